"""What a user writes: a run that passes, one that fails for the reason that really was, and a wrong expectation that is told."""
import importlib, os

import pytest

agent = importlib.import_module(os.environ["AGENT"])


def test_a_good_run_passes(tracejury):
    agent.answer("Order A-1042: the lamp arrived broken. Please refund 39.95.", 39.95)
    tracejury.expect_tool_calls(["find_order", {"name": "refund_order", "arguments": {"amount": 39.95}}])
    tracejury.assert_run("tool_error")


def test_a_failed_tool_call_fails_the_test(tracejury):
    agent.answer("Order A-1042: please refund 500.", 500)
    with pytest.raises(AssertionError, match="amount 500 is more than the order total"):
        tracejury.assert_run("tool_error")
    with pytest.raises(AssertionError, match="tool_error"):
        tracejury.assert_run()


def test_wrong_expectations_fail(tracejury):
    agent.answer("Order A-1042: the lamp arrived broken. Please refund 39.95.", 39.95)
    with pytest.raises(AssertionError):
        tracejury.expect_tool_calls(["find_order"])
    with pytest.raises(AssertionError):
        tracejury.expect_tool_calls(["find_order", {"name": "refund_order", "arguments": {"amount": 40}}])
    with pytest.raises(AssertionError, match="no such evaluator"):
        tracejury.assert_run("tool_eror")


def test_two_tests_have_runs_of_their_own(tracejury):
    agent.answer("Order A-1042: the lamp arrived broken. Please refund 1.", 1)
    tracejury.expect_tool_calls(["find_order", {"name": "refund_order", "arguments": {"amount": 1}}])
