"""The plain loop over the OpenAI SDK."""
import common
import instrument

flush = instrument.start()
import loop

common.plan()
client = instrument.hooks.client(lambda openai: openai.OpenAI(base_url=common.BASE_URL, max_retries=0))
loop.chat(client.chat.completions.create)
common.finish(flush)
