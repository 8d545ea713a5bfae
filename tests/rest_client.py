"""A small client of REST for tests: one guest, every method one request."""

from collections.abc import AsyncGenerator
from typing import Any, Self

import httpx


class RestClient:
    """One guest; answers come back whole, for their status and headers."""

    def __init__(self, url: str) -> None:
        self.http = httpx.AsyncClient(base_url=url, timeout=30)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def sign_in(self, name: str) -> None:
        answer = await self.http.post("/v1/guests", json={"name": name})
        assert answer.status_code == 201, answer.text
        self.http.headers["authorization"] = f"Bearer {answer.json()['token']}"

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.http.get(f"/v1{path}", params=params)

    async def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """``headers`` with underscores: ``idempotency_key="k"``."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post(f"/v1{path}", json=body, headers=sent)

    async def create(self, *seats: dict[str, Any], **more: Any) -> dict[str, Any]:
        answer = await self.post("/matches", {"seats": list(seats), **more})
        assert answer.status_code == 201, answer.text
        match: dict[str, Any] = answer.json()
        return match

    async def act(self, match: dict[str, Any]) -> httpx.Response:
        """Play something legal for this player, who is to act."""
        path, legal = f"/matches/{match['id']}", match["you"]["legal"]
        if legal["flip"]:
            return await self.post(f"{path}/hand", {"flip": False})
        if legal["shows"]:
            best = max(legal["shows"], key=lambda show: show["count"])
            body = {"first": best["first"], "count": best["count"]}
            return await self.post(f"{path}/show", body)
        body = {"end": legal["scout"]["ends"][0], "insertAt": 0, "flip": False}
        return await self.post(f"{path}/scout", body)

    async def events(
        self, path: str, last_event_id: str | None = None, **params: Any
    ) -> AsyncGenerator[dict[str, str], None]:
        """The events of a stream, as their fields, until it ends."""
        headers = {"accept": "text/event-stream"}
        if last_event_id is not None:
            headers["last-event-id"] = last_event_id
        async with self.http.stream(
            "GET", f"/v1{path}", params=params, headers=headers, timeout=60
        ) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream"), answer
            fields: dict[str, str] = {}
            async for line in answer.aiter_lines():
                if not line:
                    if "data" in fields:
                        yield fields
                    fields = {}
                elif not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    fields[name] = value
