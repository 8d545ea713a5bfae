"""What a command says that needs Redis, and cannot have it."""

from redis.asyncio.connection import parse_url

from api.addresses import Kind, address_of
from api.errors import Unavailable, Unconfirmed, Unwritable


def told(error: Exception, redis_url: str) -> str:
    """One line of an error, with where Redis is if that is the reason: no name, no password."""
    if not isinstance(error, Unavailable) or isinstance(error, Unconfirmed):
        return str(error)
    what = "takes no writes" if isinstance(error, Unwritable) else "cannot be reached"
    return f"Redis at {_place(redis_url)} (RINGMASTER_REDIS_URL) {what}: {error}"


def _place(url: str) -> str:
    address = address_of(url)
    if address.kind is not Kind.SERVER:
        return ", ".join(f"{host}:{port}" for host, port in address.nodes)
    options = parse_url(url)
    usual = f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"
    return str(options.get("path", usual))
