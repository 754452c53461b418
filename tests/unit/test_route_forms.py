"""Questions about routes that name words, a prefix or a file."""

import pytest

from atlas.code.question.grammar import find_relation
from atlas.code.question.package_questions import PackageAspect, find_package_question
from atlas.code.question.route_forms import RouteQuestion, read_route_question


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("DELETE /v1/decisions", RouteQuestion("DELETE", "/v1/decisions")),
        ("all routes under /gocardless", RouteQuestion(path="/gocardless", is_prefix=True)),
        ("which endpoint resets a user file", RouteQuestion(words=("reset", "user", "fil"))),
        ("what routes does api/controller.go register", RouteQuestion(name="api/controller.go")),
        ("endpoints defined in UsersController", RouteQuestion(name="UsersController")),
    ],
)
def test_questions_about_routes_are_read(text: str, question: RouteQuestion) -> None:
    assert read_route_question(text, None) == question


@pytest.mark.parametrize("text", ["which route to take", "how does parse work", "what calls users.list"])
def test_other_questions_have_no_path(text: str) -> None:
    question = read_route_question(text, None)
    assert question is None or question.words


def test_a_quoted_message_is_no_name() -> None:
    assert find_relation('where does the error message "strict mode:" come from') is None


def test_a_gem_has_a_version() -> None:
    question = find_package_question("which gem versions of rails are required")
    assert question is not None
    assert (question.asks, question.package) == (PackageAspect.VERSION, "rails")
