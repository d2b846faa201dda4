"""The same question put to two servers, and what differs in their answers."""
import email.utils
import json

HEADERS = ["content-type", "cache-control", "openstack-api-version", "vary", "location"]
PRESENT = 5  # seconds between two answers to one question, at most


class Unanswered(Exception):
    """The reference breaks on a question, as it does on PostgreSQL with usages
    by consumer type."""


def difference(target, version, reference, ours):
    """What differs in the answers of two connections; nothing when they agree."""
    headers = {
        "accept": "application/json",
        "openstack-api-version": f"placement {version}",
        "x-auth-token": "admin",
    }
    expected, expected_body = reference.send("GET", target, headers)
    given, given_body = ours.send("GET", target, headers)
    if expected.status >= 500 > given.status:
        raise Unanswered
    if expected.status != given.status:
        return f"status {given.status}, not {expected.status}"
    if expected.status >= 400:
        return None  # the words are each server's own
    for name in HEADERS:
        if expected.getheader(name) != given.getheader(name):
            return f"{name}: {given.getheader(name)}, not {expected.getheader(name)}"
    if not _is_untimed(target) and _modified(expected) != _modified(given):
        return (f"last-modified: {given.getheader('last-modified')}, "
                f"not {expected.getheader('last-modified')}")
    return _differs(_body(expected_body), _body(given_body))


def _is_untimed(target):
    """Whether stowplan keeps no time of what is asked for: of inventories, which
    it answers with the present."""
    return "/inventories" in target


def _modified(answer):
    """When it was modified: a time of the past, or the present."""
    text = answer.getheader("last-modified")
    if text is None:
        return None
    modified = email.utils.parsedate_to_datetime(text)
    now = email.utils.parsedate_to_datetime(answer.getheader("date"))
    return "the present" if abs((now - modified).total_seconds()) <= PRESENT else text


def _body(content):
    return _unordered(json.loads(content)) if content else None


def _unordered(value):
    """A value in which the order of lists does not matter."""
    if isinstance(value, dict):
        return {name: _unordered(part) for name, part in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(part) for part in value),
                      key=lambda part: json.dumps(part, sort_keys=True))
    return value


def _differs(expected, given):
    if expected == given:
        return None
    return f"{_short(given)}, not {_short(expected)}"


def _short(value):
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= 400 else text[:400] + "..."
