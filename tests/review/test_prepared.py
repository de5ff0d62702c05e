from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from threading import Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Q, Value
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memoryreview.review.prepared import Prepared, now, number

pytestmark = pytest.mark.django_db


def _by_pk() -> Prepared[User]:
    return Prepared(User.objects.filter(pk=number("pk")).order_by("pk"))


def test_a_question_is_asked_with_other_values_each_time(owner: User, second: User) -> None:
    question = _by_pk()

    assert [question.ask(pk=one.pk) for one in (owner, second, owner)] == [[owner], [second], [owner]]
    assert question.ask(pk=0) == []


def test_its_answer_is_what_holds_when_it_is_asked(owner: User) -> None:
    question = _by_pk()
    question.ask(pk=owner.pk)
    User.objects.filter(pk=owner.pk).update(username="other")

    with CaptureQueriesContext(connection) as asked:
        (found,) = question.ask(pk=owner.pk)

    assert (found.username, len(asked)) == ("other", 1)


def test_the_time_is_that_of_the_asking(owner: User) -> None:
    joined: datetime = owner.date_joined
    question = Prepared(User.objects.filter(pk=owner.pk, date_joined__lte=now(less=timedelta(days=1))))

    assert question.ask(now=joined + timedelta(hours=23)) == []
    assert question.ask(now=joined + timedelta(hours=25)) == [owner]


def test_what_comes_along_keeps_its_kinds(owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(last_login=timezone.now())
    found = User.objects.annotate(three=Value(3)).values_list("last_login", "is_active", "three")

    ((at, is_active, three),) = Prepared(found.filter(pk=number("pk"))).ask(pk=owner.pk)

    assert (at is not None and at.tzinfo is not None, is_active, three) == (True, True, 3)


def test_a_question_that_nothing_can_answer_is_not_asked() -> None:
    question = Prepared(User.objects.filter(Q(pk__in=[]), pk=number("pk")))

    with CaptureQueriesContext(connection) as asked:
        assert question.ask(pk=1) == []

    assert len(asked) == 0


@pytest.mark.django_db(transaction=True)
def test_each_thread_asks_over_its_own_connection(owner: User) -> None:
    question = _by_pk()
    found: list[list[User]] = []

    def ask(pk: int) -> None:
        found.append(question.ask(pk=pk))
        connection.close()

    for pk in (owner.pk, 0):
        thread = Thread(target=partial(ask, pk))
        thread.start()
        thread.join()

    assert found == [[owner], []]
