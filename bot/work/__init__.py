"""Durable work: a delivery comes in, a handler decides, and what it decided is carried out, once."""
