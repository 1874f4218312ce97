/**
 * Values that frameworks raise or write in place of a result when nothing went wrong: a call that waits for a person or another program, a call that
 * a person refused, and exceptions that only pass control on.
 */

import { isJsonArray, isJsonObject, type JsonValue, member, parseJson } from './json.ts';

/** waiting: the call goes on when a person or another program has answered. passed_on: the call handed control to another agent or ended the run. */
export type ControlFlow = 'waiting' | 'passed_on';

/** A stated failure, as its class and message. */
interface Stated {
  readonly type?: string;
  readonly message: string;
}

/** Class names without their module. Rows name the source; the last row of `waiting` is the way in which programs name their own. */
const classes: readonly { readonly flow: ControlFlow; readonly source: string; readonly name: RegExp }[] = [
  { flow: 'waiting', source: 'langgraph: errors', name: /^(?:GraphInterrupt|NodeInterrupt|GraphBubbleUp|GraphDrained)$/ },
  { flow: 'waiting', source: 'pydantic-ai: deferred tools', name: /^(?:CallDeferred|ApprovalRequired)$/ },
  { flow: 'waiting', source: 'strands-agents: interrupts', name: /^InterruptException$/ },
  { flow: 'waiting', source: 'crewai: human feedback of flows', name: /^HumanFeedbackPending$/ },
  { flow: 'waiting', source: 'google-adk: workflows', name: /^_?NodeInterruptedError$/ },
  { flow: 'waiting', source: 'haystack: breakpoints', name: /^BreakpointException$/ },
  { flow: 'waiting', source: 'modelcontextprotocol SDKs: elicitation', name: /^UrlElicitationRequired(?:Error)?$/ },
  {
    flow: 'waiting',
    source: 'programs',
    name: /^_?(?!Keyboard|IO|Thread|Unknown)(?:[A-Z]\w{0,60}?)?(?:Interrupt|Suspend|Suspension|Pause|Suspended|Paused|(?:Approval|Confirmation|HumanInput|UserInput|HumanReview)(?:Required|Needed|Requested|Pending)|(?:Requires|Needs|Awaiting|Pending)(?:Human)?(?:Approval|Confirmation|Input|Review))(?:Exception|Signal|Error)?$/,
  },
  { flow: 'passed_on', source: 'langgraph: errors', name: /^ParentCommand$/ },
  { flow: 'passed_on', source: 'smolagents: final_answer', name: /^FinalAnswerException$/ },
  { flow: 'passed_on', source: 'agno: exceptions', name: /^StopAgentRun$/ },
];

/** A class at the beginning of a message, as `repr`, log lines and stack traces begin: `GraphInterrupt((…))`, `ParentCommand: …`. */
const LEADING_CLASS = /^\s*(?:(?:Uncaught |Error: |Exception: )\s*)?((?:[A-Za-z_]\w*\.){0,8}[A-Za-z_]\w{2,79})(?=\(|:|[^\S\n]*(?:\n|$))/;
/** A traceback of Python ends with the class. */
const TRACEBACK = /^\s*Traceback \(most recent call last\)/;

export function controlFlowOf({ type, message }: Stated): ControlFlow | undefined {
  const line = TRACEBACK.test(message) ? message.trimEnd().slice(message.trimEnd().lastIndexOf('\n') + 1) : message;
  return flowOfClass(type) ?? flowOfClass(LEADING_CLASS.exec(line)?.[1]);
}

function flowOfClass(name: string | undefined): ControlFlow | undefined {
  if (name === undefined) return undefined;
  const own = name.slice(name.lastIndexOf('.') + 1);
  return classes.find((row) => row.name.test(own))?.flow;
}

/** Longer texts are results that only speak of a refusal. */
const noticeMax = 1_500;

const person = '(?:user|human|operator|reviewer|approver|administrator|admin|supervisor|customer|person)';
const refused = '(?:denied|rejected|declined|refused|disapproved|cancelled|canceled|not approved|not confirmed|not authorized)';
const action = '(?:tool|function|call|action|command|operation|execution|invocation|request|permission|use|approval)s?';

/** Texts that replace a result when a person refused the call. */
const refusals: readonly { readonly source: string; readonly text: RegExp }[] = [
  { source: 'openai-agents: approvalRejection', text: /^Tool execution was not approved\./ },
  { source: 'pydantic-ai: ToolDenied', text: /^The tool call was denied\.\s*$/ },
  { source: 'google-adk: tool confirmation', text: /^This tool call is rejected\.\s*$/ },
  { source: 'langchain: human in the loop', text: /^User rejected the tool call for `/ },
  { source: 'Vercel AI SDK: execution-denied', text: /^Tool (?:call )?execution (?:was )?denied\.?\s*$/ },
  { source: 'Mastra: tool approval', text: /^Tool call was not approved by the user\b/ },
  { source: 'agent-framework: tool approval', text: /^Error: Tool call invocation was rejected by user\./ },
  { source: 'agno: reject_tool_call', text: /^(?:Function|Tool) call was rejected\b/ },
  { source: 'haystack: REJECTION_FEEDBACK_TEMPLATE', text: /^Tool execution for '[^'\n]{1,200}' was rejected by the user\./ },
  { source: 'strands-agents: cancel_tool, interventions', text: /^(?:tool cancelled by user|CONFIRMATION_FAILED: )/ },
  { source: 'autogen: CodeExecutorAgent', text: /^Code execution was not approved\./ },
  {
    source: 'Claude Code',
    text: /^(?:The user doesn't want to (?:proceed with this tool use|take this action)|\[Request interrupted by user for tool use\])/,
  },
  {
    source: 'programs: a person refused the call',
    text: new RegExp(
      `^(?:Error: ?)?(?:The |A )?${person} (?:has |have )?(?:explicitly )?(?:${refused}|did not (?:approve|confirm|allow|authorize)|does not (?:approve|allow|want)|chose not to (?:approve|allow)) (?:to run |to execute |the execution of |execution of )?(?:(?:this|the|that|your|its) )?(?:[\\w\`'".-]{1,60} )?${action}\\b`,
      'i',
    ),
  },
  {
    source: 'programs: the call was refused by a person',
    text: new RegExp(
      `^(?:Error: ?)?(?:(?:The|This|Your) )?(?:[\\w\`'".-]{1,60} )?(?:(?:tool|function|agent) )?${action}(?: (?:call|use|execution|request|invocation))?(?: (?:for|of|to) [^\\n.]{1,100})? (?:was|is|has been|were) ${refused} by (?:the |a )?${person}\\b`,
      'i',
    ),
  },
  {
    source: 'programs in Chinese',
    text: /^(?:用户|人工)(?:已)?(?:拒绝|取消|未批准|不同意)(?:了)?(?:此|该|这个|本次)?(?:工具|调用|执行|操作|请求)/,
  },
  {
    source: 'programs in German',
    text: /^(?:Der |Dieser |Die )?(?:Werkzeug|Tool|Funktions)?-?\s?(?:Aufruf|Aktion|Ausführung) wurde vo[mn] (?:der |dem )?(?:Benutzer|Nutzer|Anwender|Menschen)\S{0,3} abgelehnt/i,
  },
];

/** Texts that replace a result while a person is asked. */
const requests: readonly { readonly source: string; readonly text: RegExp }[] = [
  { source: 'google-adk: tool confirmation', text: /^This tool call requires confirmation, please approve or reject\.?\s*$/ },
  {
    source: 'programs',
    text: new RegExp(
      `^(?:(?:The|This) )?(?:${action} )?(?:is |are )?(?:waiting for|awaiting|pending|requires|needs) (?:a |the )?(?:${person} |human )?(?:approval|confirmation)(?: (?:by|from|of) (?:a |the )?${person})?\\.?\\s*$`,
      'i',
    ),
  },
];

/** A notice without a match holds nothing. */
const HINT =
  /approv|reject|den(?:ied|y)|declin|refus|cancel|confirm|interrupt|doesn't want|chose not|did not|does not|拒绝|取消|未批准|不同意|abgelehnt/i;
const hintMax = 300;

/** Why a call did not run to its end: it waits for a person or another program, or a person refused it. */
export type CallHold = 'waiting' | 'refused';

/** The members of a small object in which frameworks put such a notice. */
const noticeMembers = ['error', 'message', 'reason', 'result', 'output', 'content', 'value'] as const;
const membersMax = 4;

/** The reason in a result why the call did not run; `undefined` for the result of one that did. */
export function holdIn(result: JsonValue | undefined): CallHold | undefined {
  if (typeof result === 'string') return holdInText(result);
  if (!isJsonObject(result) || Object.keys(result).length > membersMax) return undefined;
  // Vercel AI SDK: ToolResultOutput.
  if (member(result, 'type') === 'execution-denied') return 'refused';
  for (const name of noticeMembers) {
    const value = member(result, name);
    const found = typeof value === 'string' ? holdInText(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function holdInText(text: string): CallHold | undefined {
  if (text.length > noticeMax || !HINT.test(text.slice(0, hintMax))) return undefined;
  const plain = text.trimStart();
  if (refusals.some((row) => row.text.test(plain))) return 'refused';
  return requests.some((row) => row.text.test(plain)) ? 'waiting' : undefined;
}

/** Longer texts are not parsed. */
const outputMax = 200_000;
const OUTPUT_HINT = /"(?:__interrupt__|approvals|interruptions|finishReason|status)"/;

/** True when the output of an agent states that the run waits. */
export function statesPause(output: JsonValue | undefined): boolean {
  const object = typeof output !== 'string' ? output : isHinted(output) ? parseJson(output) : undefined;
  if (!isJsonObject(object)) return false;
  const has = (name: string): boolean => isFilled(member(object, name));
  return (
    // LangGraph: the state of an interrupted graph.
    has('__interrupt__') ||
    // Pydantic AI: DeferredToolRequests.
    (isJsonArray(member(object, 'approvals')) && isJsonArray(member(object, 'calls')) && (has('approvals') || has('calls'))) ||
    // OpenAI Agents: the interruptions of a result.
    has('interruptions') ||
    // Mastra and agno.
    member(object, 'finishReason') === 'suspended' ||
    /^(?:paused|suspended)$/i.test(textOf(member(object, 'status')))
  );
}

function isHinted(text: string): boolean {
  return text.length <= outputMax && /^\s*\{/.test(text) && OUTPUT_HINT.test(text);
}

function isFilled(value: JsonValue | undefined): boolean {
  return isJsonArray(value ?? null) && (value as readonly JsonValue[]).length > 0;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Reasons why the work of a model or an agent ends while a person or a program is asked. Sources: Strands Agents, Mastra, OpenAI. */
const waitingReasons: ReadonlySet<string> = new Set([
  'interrupt',
  'interrupted',
  'suspended',
  'paused',
  'requires_action',
  'tool-approval',
]);

export function isWaitingReason(reason: unknown): boolean {
  return typeof reason === 'string' && waitingReasons.has(reason);
}
