"""Messages differ inside, each from every other one; an answer has all of its question, and more."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipclab.spawn.answered import Proof
from ipclab.spawn.proof import BUFFERS, MARK, Messages, Numbered, PayloadError
from ipclab.spawn.worker import Outcome

SIZES = (1, 7, 8, 16, 100, 256, 257, 100_000)


def end(role: str) -> Any:
    """Return what a proof asks of the worker with a role."""
    told = {"server": {"secret": "00"}}
    return SimpleNamespace(
        recording=True, outcome=Outcome(), prefix="p", role=role, meet=lambda **own: told
    )


def ends(size: int, receive: str = "bytes") -> tuple[Proof, Proof]:
    """Return a server's and a client's proof of one launch."""
    return Proof(end("server"), size, receive), Proof(end("client"), size, receive)


@pytest.mark.parametrize("size", SIZES)
def test_every_message_is_known_again_whatever_was_made_before(size: int) -> None:
    made, again = Messages("key", size), Messages("key", size)
    sent = [bytes(made.message(number)) for number in range(600)]
    for number in (599, 0, 300, 17, 16, 15):
        assert bytes(again.at(number)) == sent[number]
    if size > MARK:
        bodies = {message[MARK:] for message in sent}
        assert len(bodies) > (len(sent) * 0.99 if size >= 2 * MARK else 200)


def test_stamps_are_all_over_the_message_and_have_no_period() -> None:
    messages, size = Messages("key", 1_000), 1_000
    texts = [bytes(messages.message(number)) for number in range(4_000)]
    sent = np.array([np.frombuffer(text, np.uint8) for text in texts])
    differs = sent[BUFFERS:, MARK:] != sent[:-BUFFERS, MARK:]  # from the one before in its buffer
    assert differs.any(axis=1).all(), "only its number tells a message from an older one"
    assert differs.any(axis=0).all(), f"of {size} bytes some are never stamped"
    assert len(np.unique(sent[:, -MARK:], axis=0)) == len(sent)


@pytest.mark.parametrize("size", SIZES)
def test_every_answer_is_told_from_its_question_and_from_others(size: int) -> None:
    server, client = ends(size)
    answers = list[bytes]()
    for number, look in enumerate(zip(server.plan(60), client.plan(60), strict=True)):
        asked = bytes(client.next())
        answer = bytes(server.answer(bytes(bytearray(asked)), look[0]))
        assert number == client.made - 1 and len(answer) == size
        client.check(answer, look[1])
        if size >= MARK:
            assert answer != asked
            with pytest.raises(PayloadError, match="was not answered by the server"):
                client.check(asked, look[1])
        answers.append(answer)
    if size > MARK:
        assert len(set(answers)) == len(answers)
        with pytest.raises(PayloadError, match="message 58 came in its place, again"):
            client.check(answers[58], False)


@pytest.mark.parametrize("ending", ["looked at", "over", "late", "cut"])
def test_a_short_answer_that_was_kept_is_told_before_whatever_comes_after_it(ending: str) -> None:
    server, client = ends(100)
    server.plan(9), client.plan(9)
    answers = [bytes(server.answer(bytes(client.next()), look=False)) for _ in range(5)]
    server, client = ends(100)
    client.plan(9)
    wanted = r"message 2 .*came in its place, too early"
    with pytest.raises(PayloadError, match=wanted), client.going():
        for number in (0, 1, 4):  # the answer to 4 stands for that to 2
            client.next()
            client.keep(answers[number], look=False)
        client.next()
        if ending == "looked at":
            client.keep(answers[3], look=True)
        elif ending == "late":
            raise TimeoutError
        elif ending == "cut":
            raise client.unlike(answers[3][:-1])


def test_a_long_message_that_was_received_is_answered_where_it_lies() -> None:
    server, client = ends(100_000)
    server.plan(9), client.plan(9)
    received = bytes(bytearray(client.next()))
    answer = server.answer(received, look=False)
    assert answer is received
    client.check(client.arrive(answer), look=False)


def test_what_is_no_bytes_is_refused_at_both_ends() -> None:
    class Late(bytes):
        pass

    server, client = ends(100)
    server.plan(9), client.plan(9)
    asked = bytes(client.next())
    for kind in (Late, bytearray, memoryview):
        with pytest.raises(PayloadError, match=f"arrived as a {kind.__name__}, not as bytes"):
            server.answer(kind(asked), look=False)
        with pytest.raises(PayloadError, match=f"message 0 arrived as a {kind.__name__}"):
            client.arrive(kind(asked))
    assert ends(100, "view")[1].arrive(memoryview(asked)) == asked


@pytest.mark.parametrize("size", [100, 10_000, 100_000])
def test_one_bit_that_turns_in_a_stamp_is_found_without_a_look(size: int) -> None:
    sender, receiver = Numbered("key", size), Numbered("key", size)
    for number in range(40):
        wrong = bytearray(sender.next())
        receiver.next()
        receiver.check(bytes(wrong), look=False)
        begin = receiver.messages.places[number % BUFFERS]
        wrong[receiver.messages.stamped[0].start - begin] ^= 1
        with pytest.raises(PayloadError, match="arrived with other bytes"):
            receiver.check(bytes(wrong), look=False)
