"""URLs as Go reads them, where a table of the API server's answers does not reach."""

from crdgen.urls import is_uri


def test_a_host_of_thousands_of_digits_is_no_address() -> None:
    assert not is_uri(f"http://[{'9' * 5000}.1.1.1]")
    assert not is_uri("http://[1.2.3.4]")
    assert is_uri("http://1.2.3.4")
