"""What REST takes and answers: the fields of the GraphQL types as models that make OpenAPI."""
