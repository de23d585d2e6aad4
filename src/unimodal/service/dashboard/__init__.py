"""The pages for people, at `/`: `router.py` has the router that the application mounts."""
