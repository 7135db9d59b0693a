"""The points that a sentence of `show` names: `IN 48 B, depth 1 and 4`, `7 of 12 points`."""

import re

#: In brackets behind what is said of them.
PLACE = re.compile(
    r"\(((?:all points|\d+ of \d+ points|link \d|OUT \d|IN \d|depth \d|[\d, and]+ B\b)[^)]*)\)"
)
#: How the values of a setting are written, and the key of its value.
SETTINGS = [
    (r"OUT ([\d, andto]+) B", "out_bytes"),
    (r"IN ([\d, andto]+) B", "in_bytes"),
    (r"depth ([\d, andto]+)", "depth"),
    (r"^(?:link .*(?:alone|together), )?([\d, andto]+) B", "in_bytes"),
]


def _numbers(text: str) -> list[int]:
    """The numbers of `64, 1,024 and 4,096`."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d+(?:,\d{3})*", text)]


def _is_in(group: str, point: dict) -> bool:
    """Whether a point is one of `IN 48 B, depth 1 and 4`."""
    links = re.findall(r"link (\d+) (alone|together)", group)
    at = (str(point["link"]), "together" if point["together"] else "alone")
    if links and at not in links:
        return False
    for pattern, key in SETTINGS:
        said = re.search(pattern, group)
        if not said:
            continue
        numbers = _numbers(said.group(1))
        is_range = " to " in said.group(1)
        inside = numbers[0] <= point[key] <= numbers[-1] if is_range else point[key] in numbers
        if not inside:
            return False
    return True


def place_in(text: str) -> str | None:
    """What the first brackets that name points contain."""
    found = PLACE.search(" ".join(text.split()))
    return found.group(1) if found else None


def counted(place: str | None) -> int | None:
    """How many points are meant, where they are only counted."""
    found = re.match(r"(\d+) of \d+ points", place or "")
    return int(found.group(1)) if found else None


def named(place: str | None, points: list[dict]) -> list[dict]:
    """The points of a run that are meant; all where none are named, or they are only counted."""
    if not place or place == "all points" or counted(place):
        return points
    groups = place.split("; ")
    return [p for p in points if any(_is_in(group, p["point"]) for group in groups)]
