"""The plain loop over Mistral's client."""
import json

import common
import instrument

flush = instrument.start()
import loop

try:
    from mistralai.client import Mistral
except ImportError:  # version 1
    from mistralai import Mistral

common.MODEL = "mistral-small-latest"
common.plan()
client = Mistral(api_key="not-a-key", server_url=common.MODEL_URL)


class Chunks:
    """Mistral's stream in the form of the others: each event holds one chunk, arguments may be objects."""

    def __init__(self, events):
        self._events = events

    def __iter__(self):
        return (event.data for event in self._events)


def create(stream=False, stream_options=None, **request):
    return Chunks(client.chat.stream(**request)) if stream else client.chat.complete(**request)


loop.chat(create)
common.finish(flush)
