"""The plain loop over the OpenAI SDK."""
import common
import instrument

flush = instrument.start()
import loop

common.plan()
client = instrument.hooks.client(lambda openai: openai.OpenAI(base_url=common.BASE_URL, max_retries=0))
loop.chat(lambda **request: client.chat.completions.create(**request))  # an SDK may replace the function later
common.finish(flush)
