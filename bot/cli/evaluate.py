"""``explainbot evaluate``: how often the answer is right, on issues whose right answers are known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from bot.cli.app import Problem, app, console, load_settings

if TYPE_CHECKING:
    from bot.evaluation import Evaluation, Level, Outcome, Scores

FILE = typer.Argument(..., metavar="CASES.jsonl", help="Cases, one JSON object a line; - for standard input.")
REPO = typer.Option("", "--repo", metavar="OWNER/NAME", help="Only the cases of this repository.", show_default=False)
AS_JSON = typer.Option(False, "--json", help="Counts and every case as JSON.")
CASES = typer.Option(True, "--cases/--no-cases", help="Also list every case.")

LEVELS: tuple[Level, ...] = ("answer", "cautious")
NAMES = {"answer": "plain answers", "cautious": "plain and cautious answers"}


@app.command()
def evaluate(file: str = FILE, repo: str = REPO, as_json: bool = AS_JSON, cases: bool = CASES) -> None:
    """Score the matcher on issues whose right answers are known.

    **recall@1**: the first posted record is the root cause, among the cases that show an error which the project raises in its
    newest release; *any*: it is any error of the issue. **coverage**: something is posted, right or wrong, among the same cases.
    **precision**: the post names an error of the issue, among all posts. Cases marked optional, errors gone from the newest
    release and errors that are only logged stay out of recall and are listed apart; their posts count for precision. Each figure
    is given twice: posting plain answers alone, and posting cautious ones too.

    Results: `right` the root cause, `other` another error of the issue, `wrong`, `missed`; without an error of the project `quiet`
    is right, `false` is not, and `excused` names one that may be named.

    Example: `explainbot evaluate cases.jsonl --repo sgl-project/sglang`
    """
    from bot.cli.catalogues import Catalogues
    from bot.cli.explain import lines_of
    from bot.evaluation import evaluate as run
    from bot.evaluation import read_cases

    catalogues = Catalogues(load_settings())
    with lines_of(file) as lines:
        found = [case for case in read_cases(lines) if not repo or case.repository == repo]
    if not found:
        raise Problem(f"{file} holds no cases" + (f" of {repo}" if repo else ""))
    result = run(found, catalogues.open_or_none)
    if as_json:
        typer.echo(json.dumps(_as_json(result), indent=2))
    else:
        _print(result, cases)


def _print(result: Evaluation, cases: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    from bot.evaluation import score

    out = console()
    if cases:
        table = Table("case", "kind", "decision", "result", title="Cases", title_justify="left")
        table.add_column("record", no_wrap=True, ratio=1)
        for outcome in result.outcomes:
            case = outcome.case
            table.add_row(case.id, case.kind, outcome.decision, _result(outcome), Text(_named(outcome)))
        out.print(table)
    kinds = sorted({outcome.case.kind for outcome in result.outcomes})
    for level in LEVELS:
        table = Table("kind", title=f"Posting {NAMES[level]}", title_justify="left")
        for column in ("cases", "recall@1", "any", "coverage", "precision"):
            table.add_column(column, justify="right")
        for kind in kinds:
            scores = score((outcome for outcome in result.outcomes if outcome.case.kind == kind), level)
            table.add_row(kind, *_row(scores), end_section=kind == kinds[-1])
        table.add_row("all", *_row(score(result.outcomes, level)))
        out.print(table)
    for group, says in (("gone", "gone from the newest release"), ("log", "logged, never raised"), ("optional", "optional")):
        apart = [outcome for outcome in result.outcomes if outcome.case.group == group]
        if apart:
            counts = ", ".join(f"{_result(outcome)} {outcome.case.id}" for outcome in apart)
            out.print(f"{len(apart)} apart ({says}): {counts}", highlight=False)
    for repository in sorted({repository for _, repository in result.skipped}):
        number = sum(other == repository for _, other in result.skipped)
        out.print(f"{number} cases of {repository} skipped: no catalogue; explainbot scan {repository}", highlight=False)


def _row(scores: Scores) -> list[str]:
    return [
        str(scores.cases),
        _share(scores.recall, scores.right, scores.positives),
        _share(scores.recall_any, scores.any, scores.positives),
        _share(scores.coverage, scores.answered, scores.positives),
        _share(scores.precision, scores.good_posts, scores.posts),
    ]


def _share(value: float | None, count: int, of: int) -> str:
    return "" if value is None else f"{count}/{of} {value:.2f}"


def _result(outcome: Outcome) -> str:
    if outcome.result == "silent":
        return "quiet" if outcome.case.group in ("negative", "gone", "optional") else "missed"
    return "false" if outcome.result == "wrong" and outcome.case.group == "negative" else outcome.result


def _named(outcome: Outcome) -> str:
    return f"{outcome.record.type}: {outcome.record.heading[:60]}" if outcome.record else ""


def _as_json(result: Evaluation) -> dict[str, Any]:
    from bot.evaluation import score

    def figures(outcomes: list[Outcome]) -> dict[str, Any]:
        return {level: _figures(score(outcomes, level)) for level in LEVELS}

    seen = list(result.outcomes)
    return {
        "all": figures(seen),
        "kinds": {kind: figures([o for o in seen if o.case.kind == kind]) for kind in sorted({o.case.kind for o in seen})},
        "apart": {group: [o.case.id for o in seen if o.case.group == group] for group in ("gone", "log", "optional")},
        "cases": [
            {
                "id": outcome.case.id,
                "repo": outcome.case.repository,
                "kind": outcome.case.kind,
                "group": outcome.case.group,
                "verdict": outcome.decision,
                "result": _result(outcome),
                "record": outcome.record.id if outcome.record else None,
            }
            for outcome in seen
        ],
        "skipped": [{"id": id, "repo": repository} for id, repository in result.skipped],
    }


def _figures(scores: Scores) -> dict[str, Any]:
    from dataclasses import asdict

    shares = ("recall", "recall_any", "precision", "coverage")
    return {**asdict(scores), **{name: getattr(scores, name) for name in shares}}
