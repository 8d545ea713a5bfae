"""An issuer of signed tokens: a real server of keys on a real socket, in a thread."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

NAME, AUDIENCE = "https://issuer.example", "ringmaster"
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


class Key:
    """A key pair of the issuer, with its id."""

    def __init__(self, key_id: str, algorithm: str = "ES256") -> None:
        self.key_id = key_id
        self.algorithm = algorithm
        self.private: PrivateKey
        match algorithm[:2]:
            case "ES":
                self.private = ec.generate_private_key(ec.SECP256R1())
            case "Ed":
                self.private = ed25519.Ed25519PrivateKey.generate()
            case _:
                self.private = rsa.generate_private_key(65537, 2048)

    def public_jwk(self) -> dict[str, Any]:
        public = self.private.public_key()
        if isinstance(public, rsa.RSAPublicKey):
            jwk = RSAAlgorithm.to_jwk(public, as_dict=True)
        elif isinstance(public, ec.EllipticCurvePublicKey):
            jwk = ECAlgorithm.to_jwk(public, as_dict=True)
        else:
            jwk = OKPAlgorithm.to_jwk(public, as_dict=True)
        return {**jwk, "kid": self.key_id, "use": "sig", "alg": self.algorithm}

    def public_pem(self) -> bytes:
        public = self.private.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def private_pem(self) -> bytes:
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, header: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token with the usual claims, but for those given; None takes one out."""
        usual = {"iss": NAME, "aud": AUDIENCE, "sub": "ann@example", "exp": int(time.time()) + 60}
        kept = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        headers = {"kid": self.key_id, **(header or {})}
        return jwt.encode(kept, self.private_pem(), self.algorithm, headers)


class Issuer:
    """Serves ``body`` (its keys, unless another is set) and counts who asked."""

    def __init__(self, *keys: Key) -> None:
        self.publish(*keys)
        self.status = 200
        self.delay = 0.0
        self.fetches = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.fetches += 1
                time.sleep(issuer.delay)
                self.send_response(issuer.status)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(issuer.body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self.url = f"http://127.0.0.1:{self._server.server_port}/jwks.json"

    def publish(self, *keys: Key) -> None:
        self.body = json.dumps({"keys": [key.public_jwk() for key in keys]}).encode()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
