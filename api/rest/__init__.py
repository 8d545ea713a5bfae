"""REST under /v1: a route is a few lines over the services, its models make the document."""
