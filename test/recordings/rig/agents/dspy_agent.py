"""A DSPy ReAct module: the model answers in DSPy's text fields, tools are called from them."""
import json

import common
import instrument

flush = instrument.start()
import dspy

steps = [{"text": f"[[ ## next_thought ## ]]\nLook it up.\n\n[[ ## next_tool_name ## ]]\n{call['name']}\n\n[[ ## next_tool_args ## ]]\n{json.dumps(call['arguments'], ensure_ascii=False)}\n\n[[ ## completed ## ]]"}
         for turn in common.TURNS for step in turn["steps"] for call in step]
final = common.TURNS[0]["final"]
common.plan(script=[
    *steps, {"text": "[[ ## next_thought ## ]]\nAll is known.\n\n[[ ## next_tool_name ## ]]\nfinish\n\n[[ ## next_tool_args ## ]]\n{}\n\n[[ ## completed ## ]]"},
    {"text": f"[[ ## reasoning ## ]]\nThe tools said so.\n\n[[ ## answer ## ]]\n{final}\n\n[[ ## completed ## ]]"}])
common.facts(model=f"openai/{common.MODEL}")
dspy.configure(lm=dspy.LM(f"openai/{common.MODEL}", api_base=common.BASE_URL, api_key="not-a-key", cache=False, num_retries=0))
react = dspy.ReAct("question -> answer", tools=list(common.TOOLS.values()), max_iters=5)
for text in common.INPUTS:
    common.begin(text)
    common.end(react(question=text).answer)
common.finish(flush)
