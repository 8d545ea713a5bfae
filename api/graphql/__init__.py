"""GraphQL: resolvers of a few lines over the service, and the HTTP and WebSocket view."""
