"""Who is calling: tokens of our own and of an outside issuer, and what they allow."""
