"""The pages for people, at `/`: a router that the application mounts."""

from unimodal.service.dashboard.router import router

__all__ = ["router"]
