/** By the end of a session the user has got what they came for, by the judgement of a model that sees the whole conversation. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import { conversationOf } from './evidence/conversation.ts';
import { expectedText, lacking } from './judging/judge-blocks.ts';
import { runView } from './judging/run-view.ts';
import { judgeInput } from './judging/judge-input.ts';
import { constraints, expecting, textList } from './expectation/expecting.ts';
import { questionJudge } from './judging/question-judge.ts';

export const goalReached = questionJudge({
  id: 'goal_reached',
  summary: 'A judge finds that by the end of a session the user has got what they came for.',
  needs: ['input', 'final_response'],
  target: 'session',
  defaultThreshold: 1,
  expectationSchema: expecting({
    tasks: textList('What the session is to come to, one text a goal; otherwise what the user says in it.'),
    constraints,
  }),
  source: 'DeepEval’s goal accuracy, as one label on the whole conversation',
  evidence: [],
  question({ trace, expected }, _options, context) {
    const stop = lacking(trace, context, ['input', 'final_response']);
    if (stop !== undefined) return stop;
    const conversation = withMessages(trace);
    const view = runView(conversation);
    const goals = expectedText(expected);
    return {
      instruction,
      input: [
        { title: 'conversation', text: view.text, isCut: view.truncated },
        ...(goals === undefined ? [] : [judgeInput('goals', goals)]),
      ],
      labels: { reached: 1, missed: 0 },
      faults: 'unmet',
      what: 'The goal of the session',
      details: {
        user_messages: conversation.messages.filter(({ role }) => role === 'user').length,
        ...(view.leftOut.length === 0 ? {} : { steps_left_out: view.leftOut.length }),
      },
    };
  },
});

const instruction = `A user and an AI agent have talked with one another; the conversation is shown in order, with the calls of tools that the agent made for it. Decide whether by its end the user has got what they came for.
What they came for is what the user asks in the course of the conversation, the later wish where they change their mind; where goals are given, it is those. It counts as reached only when the conversation or the results of the calls show it: a claim of the agent that the results contradict does not count, nor does a promise. Questions that the agent asks on the way, detours and corrected errors are no fault when the end is right. When the user gives up, or the agent rightly refuses, the goal is missed. A goal that breaks a constraint is missed.
First explain in one or two sentences, then name under unmet each thing that the user did not get, then give the label reached or missed.`;

/** The messages of the run when they hold every call; otherwise messages composed of its other parts. */
function withMessages(trace: AgentTrace): AgentTrace & Required<Pick<AgentTrace, 'messages'>> {
  const { messages = [], ...rest } = trace;
  const messageCalls = messages.flatMap(({ calls }) => calls);
  const holdsAllCalls =
    messages.some(({ role }) => role === 'assistant') &&
    messageCalls.length === trace.toolCalls.length &&
    new Set(messageCalls).size === messageCalls.length;
  return { ...trace, messages: holdsAllCalls ? messages : conversationOf(rest) };
}
