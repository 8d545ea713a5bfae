"""``ringmaster arena``: levels against each other on duplicate deals."""
