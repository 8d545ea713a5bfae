"""``ringmaster train``: the nets of the learned levels, from rounds played against themselves."""
