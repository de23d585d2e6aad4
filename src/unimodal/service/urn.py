"""The one name that client and service share, apart from FastAPI and httpx."""

URN = "urn:unimodal:error:"  # and the class of an error: the type of a problem document
