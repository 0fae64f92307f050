"""JSON objects by attribute: what a server leaves out, or says in another shape, is None and no crash."""

from llm.members import members


def test_members_are_attributes_and_what_is_missing_is_none() -> None:
    event = members({"choices": [{"delta": {"content": "Hi"}, "index": 0}], "usage": None})
    assert (event.choices[0].delta.content, event.choices[0].index) == ("Hi", 0)
    assert (event.usage, event.choices[0].finish_reason, event.choices[0].delta.tool_calls) == (None, None, None)


def test_what_is_no_object_stays_what_it_is() -> None:
    assert (members("text"), members(None), members([1, "two"])) == ("text", None, [1, "two"])
