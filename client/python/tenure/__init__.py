"""Leader election as a service: the client library of Tenure."""
