from __future__ import annotations

import pytest

from memoryreview.connect.deliver import DeliveryError, TargetError, deliver, target_of
from tests.receiver import receiver


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org/hook", "ftp://example.org/", "http://example.org/hook", "https://", "https://a b/"),
        *("https://olga:pass@example.org/", "https://example.org/#part", "https://example.org:99999/", "https://[::1"),
        *("http://127.0.0.1:9001/", "http://localhost:9000/", "file:///etc/passwd", "https://exämple.org/"),
        "https://example.org/" + "a" * 500,
    ],
)
def test_address_that_nothing_goes_to_is_refused_unasked(url: str) -> None:
    with pytest.raises(TargetError) as refused:
        target_of(url, allowed={"127.0.0.1:9000"})

    assert "Nothing was saved." in str(refused.value)
    assert "pass" not in str(refused.value).replace("password", "")


def test_body_and_headers_arrive_at_a_named_port() -> None:
    with receiver(202) as one:
        status = deliver(target_of(one.url, allowed={one.named}), b'{"a": 1}', {"webhook-id": "m1"})

    assert status == 202
    [(path, headers, body)] = one.came
    assert (path, headers["content-type"], headers["webhook-id"]) == ("/hook?a=1", "application/json", "m1")
    assert (headers["host"], body) == (one.named, b'{"a": 1}')


@pytest.mark.parametrize("status", [301, 307, 400, 410, 500])
def test_any_other_answer_is_told_and_no_redirect_is_followed(status: int) -> None:
    with receiver(status) as one, pytest.raises(DeliveryError) as failed:
        deliver(target_of(one.url, allowed={one.named}), b"{}", {})

    assert (failed.value.answered, str(failed.value)) == (status, f"It answered with status {status}.")
    assert len(one.came) == 1


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "169.254.169.254", "[::1]", "10.0.0.1", "0.0.0.0", "0x7f.1"]
)
def test_private_address_is_never_connected_to(host: str) -> None:
    with receiver() as one:
        target = target_of(f"https://{host}:{one.port}/", allowed=set())
        with pytest.raises(DeliveryError, match=r"private network|cannot be looked up"):
            deliver(target, b"{}", {})

    assert one.came == []


def test_port_that_nobody_listens_on_is_told() -> None:
    with receiver() as one:
        target = target_of(one.url, allowed={one.named})

    with pytest.raises(DeliveryError, match=r"It could not be reached: Connection refused\."):
        deliver(target, b"{}", {})
