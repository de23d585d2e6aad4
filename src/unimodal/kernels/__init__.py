"""What compiled code needs and no policy knows: caching, dispatch, random numbers, the leader."""
