"""Campaigns over HTTP: the application, who may do what, and a client.

Nothing here is imported by the rest of the package: FastAPI, uvicorn and httpx come with the extra
`unimodal[serve]`. `client` is for those who call a service, the other modules are the service.
"""
