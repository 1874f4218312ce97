"""The plain loop over LiteLLM."""
import common
import instrument

flush = instrument.start()
import litellm
import loop

common.plan()
common.facts(model=f"openai/{common.MODEL}")
litellm.telemetry = False
loop.chat(lambda model, **request: litellm.completion(model=f"openai/{model}", api_base=common.BASE_URL, api_key="not-a-key", num_retries=0, **request))
common.finish(flush)
