"""The terminal front end: ``ringmaster play`` and ``ringmaster watch``.

It knows the public API and nothing else of the product, as any front end would.
"""
