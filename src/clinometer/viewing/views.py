"""Requests → pages. Every page is made of what the files hold at the moment."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from clinometer.errors import ClinometerError
from clinometer.pieces.prose import counted, cut, first_few
from clinometer.pieces.sections import Summary
from clinometer.viewing import shown
from clinometer.viewing.answers import (
    FILTERS,
    PAGE,
    SORTS,
    AnswerSelection,
    AnswerTables,
    choices,
    find_tables,
)
from clinometer.viewing.facts import (
    FILES,
    brief_of,
    cells,
    date_of,
    height_of,
    lines_of,
    message_of,
    models_of,
    plan_of,
    stamp,
)
from clinometer.viewing.logs import Bundles, find_sample, log_files
from clinometer.viewing.pages import ago, rendered
from clinometer.viewing.progress import Counter, Progress, tables_are_current
from clinometer.viewing.runs import ListedRun, find_runs, stamps
from clinometer.viewing.snapshots import Snapshots

#: The report is a file of the directory, perhaps another's: its script may run, as its own policy
#: says, but apart from the other pages (sandbox), and it may ask nothing of any server.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

#: Characters of a text to look for.
MOST_TEXT = 200
#: Values that a filter offers.
MOST_VALUES = 500


class Views:
    """The pages of a directory.

    Parameters
    ----------
    directory
        A results directory, or a folder with several.
    folder
        Where tables and viewers are made meanwhile.
    root
        What every address begins with.
    """

    def __init__(self, directory: Path, folder: Path, root: str) -> None:
        self._directory = directory
        self._root = root
        self._counter = Counter()
        self._snapshots = Snapshots(folder)
        self._bundles = Bundles(folder)
        self._reading = threading.Lock()  # one long table in memory at a time

    def index(self, request: Request) -> Response:
        """List the results directories; where there is one, show it."""
        runs = find_runs(self._directory)
        if [run.path for run in runs] == [self._directory]:
            return RedirectResponse(self._address(runs[0]), 303)
        rows = sorted(map(self._row, runs), key=lambda row: row["created"], reverse=True)
        return self._page("index.html.j2", None, "Results", "All results", runs=rows)

    def overview(self, request: Request) -> Response:
        """Show how far a run is, and what it found."""
        run = self._run(request)
        errors: list[str] = []
        models: list[Progress] = []
        brief: Summary | None = None
        drawings: Mapping[str, Markup] = {}
        plan: Mapping[str, Any] = {}
        try:
            plan = plan_of(run)
            models = self._progress(run, plan)
        except (ClinometerError, OSError) as error:
            errors.append(message_of(error))
        try:
            if findings := brief_of(run.path, stamps(*(run.path / name for name in FILES))):
                brief, drawings = findings
        except (ClinometerError, OSError) as error:
            errors.append(message_of(error))
        nothing = ("There are no findings yet: tables are written when the run has ended."
                   if models else "Nothing was asked here; see the report.")  # fmt: skip
        going = any(not progress.complete for progress in models)
        return self._page(
            "overview.html.j2",
            run,
            f"Results of {first_few(models_of(plan)) or run.name}",
            "Overview",
            500 if errors else 200,
            models=[cells(progress) for progress in models],
            live=self._address(run, "progress.json") if going else "",
            stamp=stamp(run),
            brief=brief,
            drawings=drawings,
            said=list(dict.fromkeys(errors)),
            nothing=nothing,
        )

    def progress(self, request: Request) -> Response:
        """Say how far a run is, for the script of the overview."""
        run = self._run(request)
        models = [cells(progress) for progress in self._progress(run, plan_of(run))]
        return JSONResponse({"stamp": stamp(run), "models": models})

    def report(self, request: Request) -> Response:
        """Give the report as it stands."""
        run = self._run(request)
        if not run.has("report.html"):
            raise HTTPException(404, "There is no report yet; it is written when a run has ended.")
        return FileResponse(
            run.path / "report.html",
            media_type="text/html",
            headers={"Content-Security-Policy": REPORT_POLICY},
        )

    def answers(self, request: Request) -> Response:
        """List answers, chosen by what they are about, a page at a time."""
        run = self._run(request)
        selection = _read_selection(request)
        journal = _reads_journal(request, run)
        source, note = self._source(run, journal=journal)
        number = _page_number(request.query_params.get("page"))
        with self._reading:
            rows, count = source.page(selection, number)
            offered = {name: values[:MOST_VALUES] for name, values in choices(source).items()}
        pages = max(1, -(-count // PAGE))
        query = _selection_query(selection, journal=journal)
        listed = []
        for answer_id, scores in groupby(rows.iter_rows(named=True), _answer_id):
            address = self._answer_address(run, *answer_id, query)
            listed.append(shown.listed(list(scores), address))
        steps = (("First", 1), ("Previous", number - 1), ("Next", number + 1), ("Last", pages))
        turns = []
        for name, target in steps:
            if 1 <= target <= pages and target != number:
                turns.append((name, self._address(run, "answers", {**query, "page": target})))
        return self._page(
            "answers.html.j2",
            run,
            "Answers",
            "Answers",
            note=note,
            raw=self._address(run, "answers", {"source": "journal"}),
            journal=journal,
            choices={name: offered[name] for name in FILTERS},
            chosen=replace(selection, values={**dict.fromkeys(FILTERS, ""), **selection.values}),
            count=counted(count, "answer"),
            page=number,
            pages=pages,
            rows=listed,
            turns=turns,
        )

    def answer(self, request: Request) -> Response:
        """Show an answer: what was asked, what was answered, how it was read."""
        run = self._run(request)
        selection = _read_selection(request, "of_")
        journal = _reads_journal(request, run)
        source, _ = self._source(run, journal=journal)
        model, trial = (request.query_params.get(name, "") for name in ("model", "trial"))
        query = _selection_query(selection, journal=journal)
        with self._reading:
            if (match := source.answer(model, trial)) is None:
                raise HTTPException(404, "There is no such answer here.")
            answer, scores = match
            turns = self._answer_links(run, source, answer, selection, query)
        return self._page(
            "answer.html.j2",
            run,
            cut(trial, 200),
            "",
            about=shown.describe_question(answer),
            readings=shown.readings(scores),
            quotes=shown.texts(answer, scores),
            turns=turns,
        )

    def _answer_links(
        self,
        run: ListedRun,
        source: AnswerTables,
        answer: Mapping[str, Any],
        selection: AnswerSelection,
        query: Mapping[str, str],
    ) -> list[tuple[str, str]]:
        """Return the links from an answer to others."""
        model = answer["model"]
        trial = answer["trial_id"]
        turns = [("Back to the list", self._address(run, "answers", query))]
        if around := source.neighbours(selection, model, trial):
            for name, neighbour in (("Previous", around.before), ("Next", around.after)):
                if neighbour is not None:
                    turns.append((name, self._answer_address(run, *neighbour, query)))
        if partner := source.partner(answer):
            to = self._answer_address(run, model, partner, query)
            turns.append(("Its mirrored partner: the same draw in the other order", to))
        if log_files(run):
            query_of_log = {"model": model, "trial": trial}
            turns.append(("In inspect's viewer", self._address(run, "log", query_of_log)))
        return turns

    def log(self, request: Request) -> Response:
        """Go to where inspect's viewer shows a trial, or the list of the logs."""
        run = self._run(request)
        parameters = request.query_params
        place = find_sample(run, parameters.get("model", ""), parameters.get("trial", ""))
        return RedirectResponse(
            self._address(run, "inspect/") + (f"#{place}" if place else ""), 303
        )

    async def viewer(self, request: Request) -> Response:
        """Give a file of inspect's viewer, which is made when its first page is asked for."""
        from starlette.concurrency import run_in_threadpool

        run = self._run(request)
        path = request.path_params["path"]
        folder = self._bundles.current(run)
        if folder is None or not path:
            folder = await run_in_threadpool(self._bundles.bundle, run)
        return await StaticFiles(directory=folder).get_response(path or "index.html", request.scope)

    def links(self, run: ListedRun | None) -> list[tuple[str, str]]:
        """Return the links that stand on every page."""
        links = [] if run and run.path == self._directory else [("All results", f"{self._root}/")]
        if run is not None:
            links += [("Overview", self._address(run))]
            if run.has("responses.parquet", "scores.parquet") or (run.path / "answers").is_dir():
                links += [("Answers", self._address(run, "answers"))]
            if run.has("report.html"):
                links += [("Report", self._address(run, "report"))]
            if log_files(run):
                links += [("inspect's logs", self._address(run, "inspect/"))]
        return links

    def message_page(self, message: str, status: int) -> Response:
        """Show one line, such as an error."""
        title = "Not found" if status == 404 else "Cannot be shown"
        return self._page("said.html.j2", None, title, "", status, said=message)

    def _page(
        self,
        template: str,
        run: ListedRun | None,
        title: str,
        section: str,
        status: int = 200,
        **fields: Any,
    ) -> Response:
        frame = {"run": run, "title": title, "here": section, "links": self.links(run)}
        return HTMLResponse(rendered(template, {**frame, **fields}), status)

    def _run(self, request: Request) -> ListedRun:
        key = request.path_params["run"]
        for run in find_runs(self._directory):
            if run.key == key:
                return run
        raise HTTPException(404, "There are no such results here.")

    def _address(
        self, run: ListedRun, page: str = "", query: Mapping[str, Any] | None = None
    ) -> str:
        query_text = f"?{urlencode(query, errors='replace')}" if query else ""
        return f"{self._root}/runs/{run.key}/{page}{query_text}"

    def _answer_address(
        self, run: ListedRun, model: str, trial: str, query: Mapping[str, str]
    ) -> str:
        """Return the address of an answer; `query` says among which it was found."""
        # With a prefix of their own: the answer's model and trial stand in the same address.
        origin = {}
        for name, value in query.items():
            origin[name if name == "source" else f"of_{name}"] = value
        return self._address(run, "answer", {"model": model or "", "trial": trial or "", **origin})

    def _row(self, run: ListedRun) -> dict[str, Any]:
        """Return what the list says of a run; nothing of it may end the list."""
        row = {"name": run.name, "address": self._address(run), "models": "", "created": "",
               "answers": "", "found": (), "said": ""}  # fmt: skip
        try:
            plan = plan_of(run)
            row |= {"models": first_few(models_of(plan)), "created": date_of(plan)}
            row["answers"] = self._answers_text(run, plan)
            row["found"] = lines_of(run.path, stamps(*(run.path / name for name in FILES)))
        except (ClinometerError, OSError) as error:
            row["said"] = message_of(error)
        return row

    def _answers_text(self, run: ListedRun, plan: Mapping[str, Any]) -> str:
        """Say how many answers a run has, and of how many trials where tables say it."""
        models = models_of(plan)
        if plan.get("recorded") is not None and run.has("responses.parquet"):
            return f"{height_of(run.path / 'responses.parquet'):,} recorded"
        if not models or not plan.get("studies"):
            return ""
        current = tables_are_current(run.path, models) or {}
        progress = []
        for model in models:
            progress.append(current.get(model) or self._counter.count(run.path, model, None))
        answered = sum(model_progress.answered for model_progress in progress)
        trials = [model_progress.trials for model_progress in progress]
        if None in trials:
            return f"{answered:,} so far"
        total = sum(number or 0 for number in trials)
        return f"{answered:,}" if answered == total else f"{answered:,} of {total:,}"

    def _progress(self, run: ListedRun, plan: Mapping[str, Any]) -> list[Progress]:
        """Return how far each model is; nothing where no model was asked here."""
        models = models_of(plan)
        if not models or plan.get("recorded") is not None:
            return []
        current = tables_are_current(run.path, models) or {}
        if all(model in current for model in models):
            return [current[model] for model in models]
        trials = self._snapshots.count(run) if plan.get("studies") else None
        return [self._counter.count(run.path, model, trials) for model in models]

    def _source(self, run: ListedRun, *, journal: bool) -> tuple[AnswerTables, str]:
        """Return what answers are read from, and a line about it."""
        tables = find_tables(run)
        if tables is not None and not journal:
            plan = plan_of(run)
            if plan.get("recorded") or tables_are_current(run.path, models_of(plan)) is not None:
                return tables, ""
            return tables, "The journal of answers is newer than these scores."
        if not (run.path / "answers").is_dir():
            raise HTTPException(404, "There are no answers here yet.")
        answers, age = self._snapshots.answers(run, models_of(plan_of(run)))
        return AnswerTables(answers), f"Answers as they came, not scored yet; read {ago(age)}."


def _read_selection(request: Request, before: str = "") -> AnswerSelection:
    """Read what is chosen from an address; whatever is unknown is left out."""
    parameters = {name: request.query_params.get(f"{before}{name}", "") for name in FILTERS}
    text = request.query_params.get(f"{before}text", "")[:MOST_TEXT]
    sort = request.query_params.get(f"{before}sort", "")
    values = {name: value for name, value in parameters.items() if value}
    return AnswerSelection(values, text, sort if sort in SORTS else "")


def _answer_id(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["model"], row["trial_id"]


def _selection_query(selection: AnswerSelection, *, journal: bool) -> dict[str, str]:
    return {**({"source": "journal"} if journal else {}), **selection.query()}


def _reads_journal(request: Request, run: ListedRun) -> bool:
    return request.query_params.get("source") == "journal" or find_tables(run) is None


def _page_number(page: str | None) -> int:
    """Read the number of a page; 1 where it is none."""
    return max(1, int(page)) if page and page.isdecimal() and len(page) < 9 else 1
