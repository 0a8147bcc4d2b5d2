"""The web application: which addresses there are, who may ask, and what an error looks like.

A directory and what models answered are not trusted, nor is any page that the browser shows beside
these. So: addresses begin with a random token; requests have to name this machine; they may only
read; every response forbids what it does not need.
"""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clinometer.errors import ClinometerError
from clinometer.viewing.facts import message_of
from clinometer.viewing.pages import POLICY
from clinometer.viewing.views import Views

#: Names of this machine; a request for another comes from a page that pretends to be here.
HOSTS = ("127.0.0.1", "localhost")

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

#: inspect's viewer has a policy of its own in its page.
_VIEWER_POLICY = "frame-ancestors 'none'"


class _Guard:
    """Answers requests to read, and adds what every response forbids."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        app = self._app
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            app = PlainTextResponse("only GET and HEAD", 405, {"Allow": "GET, HEAD"})

        async def guarded(message: Message) -> None:
            """Send a message, with the headers where a response begins."""
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        await app(scope, receive, guarded)


def make_app(directory: Path, folder: Path, token: str) -> ASGIApp:
    """Make the application that shows a directory.

    Parameters
    ----------
    directory
        A results directory, or a folder with several.
    folder
        An empty folder, for what is made meanwhile.
    token
        What every address begins with; nobody else should know it.
    """
    views = Views(directory, folder, f"/{token}")

    async def viewer(request: Request) -> Response:
        """Give a file of inspect's viewer, under the policy that it needs."""
        response = await views.viewer(request)
        response.headers["Content-Security-Policy"] = _VIEWER_POLICY
        return response

    def failed(request: Request, error: Exception) -> Response:
        """Say on a page what went wrong; of an error that is not ours, its kind alone."""
        if isinstance(error, HTTPException):
            return views.message_page(error.detail, error.status_code)
        is_ours = isinstance(error, ClinometerError | OSError)
        unknown = f"{type(error).__name__} while this page was made"
        return views.message_page(message_of(error) if is_ours else unknown, 500)

    def no_such_page(request: Request, error: Exception) -> Response:
        """Answer an address that is none, plainly where it lacks the token."""
        if request.url.path.startswith(f"/{token}/"):
            return failed(request, error)
        return PlainTextResponse("no such page; use the address that clinometer view printed", 404)

    run_routes = [*_run_routes(views), Route("/inspect/{path:path}", viewer)]
    pages = [Route("/", views.index), Mount("/runs/{run}", routes=run_routes)]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)
    app = Starlette(
        routes=[Mount(f"/{token}", routes=pages)],
        middleware=[hosts],
        exception_handlers={
            HTTPException: no_such_page,
            ClinometerError: failed,
            OSError: failed,
            Exception: failed,
        },
    )
    return _Guard(app)


def _run_routes(views: Views) -> list[Route]:
    """Return the addresses of a run's pages, but for inspect's viewer."""
    return [
        Route("/", views.overview),
        Route("/progress.json", views.progress),
        Route("/report", views.report),
        Route("/answers", views.answers),
        Route("/answer", views.answer),
        Route("/log", views.log),
    ]
