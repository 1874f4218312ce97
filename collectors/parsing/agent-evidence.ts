/** Evidence of an agent in the keys of a span: its name, its instructions, its tools, its session. */
import { isJsonArray, isJsonObject, member, type JsonObject } from '../../src/model/json.ts';
import { textAttribute, type Span } from '../../src/model/span.ts';
import type { SpanFacts } from '../collector.ts';
import { readSystemPrompt } from './conventions.ts';
import { definitionsOf, isBare } from './definition-evidence.ts';
import { readDefinitions, unitedDefinitions } from './definitions.ts';
import { entityText } from './entities.ts';
import { first, firstText, NOTHING } from './evidence-values.ts';
import { graphAgent, isAgentNode } from './graph-agent.ts';
import type { KeyEvidence, ScalarField } from './key-evidence.ts';
import { kindIn } from './kind-words.ts';
import { idIn, textIn } from './members.ts';
import { systemIn } from './message-evidence.ts';
import { parseContainer } from './parsing.ts';
import { runName, spanName } from './span-names.ts';

export function namedAgent(
  span: Span,
  evidence: KeyEvidence,
  role: 'agent' | 'workflow',
): Pick<SpanFacts, 'agentName' | 'agentNameIsGuess'> {
  const name = agentNameOf(span, evidence) ?? (role === 'agent' ? firstText(span, evidence, 'ownName') : undefined);
  if (name !== undefined) return { agentName: name };
  const guess = runName(spanName(span) ?? '');
  // A name of several words describes a workflow, and a traced function has the function's name.
  const isTitle = role === 'workflow' && guess !== undefined && (guess.includes(' ') || isTracedFunction(span, evidence));
  return guess === undefined || guess === '' || isTitle || FRAMEWORK_NAME.test(guess) || kindIn(guess) !== undefined
    ? {}
    : { agentName: guess, agentNameIsGuess: true };
}

function isTracedFunction(span: Span, evidence: KeyEvidence): boolean {
  const input = first(span, evidence, ['input']);
  const value = typeof input === 'string' ? parseContainer(input) : undefined;
  return isJsonObject(value) && isJsonArray(member(value, 'args')) && isJsonObject(member(value, 'kwargs'));
}

/** Classes and programs of frameworks, after which they name the span of any agent. */
const FRAMEWORK_NAME =
  /^(?:[a-z]\w*(?:\.[A-Za-z]\w*)+|(?:execute|run|invoke|kickoff)(?:_(?:agent|task|turn|async|sync))*|[A-Z]\w*(?:Agent|Workflow|Graph|Executor|Sequence|Runner)|[\w-]+-framework-main|LangGraph|invocation|workflow [A-Z]\w*Graph)$/;

/** The equipment of a model or an agent: its instructions and its tools. */
export function offered(span: Span, evidence: KeyEvidence, known: SpanFacts): Pick<SpanFacts, 'systemPrompt' | 'toolDefinitions'> {
  const dump = agentDump(span, evidence);
  const systemPrompt =
    known.systemPrompt === undefined
      ? (systemPromptOf(span, evidence, dump) ?? entityText(span, evidence, 'agent', 'instructions') ?? systemIn(span, evidence, known))
      : undefined;
  const toolDefinitions =
    known.toolDefinitions === undefined || known.toolDefinitions.some(isBare)
      ? unitedDefinitions([definitionsOf(span, evidence), dump === undefined ? [] : readDefinitions(member(dump, 'tools'))])
      : [];
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
  };
}

function systemPromptOf(span: Span, { keys }: KeyEvidence, dump: JsonObject | undefined): string | undefined {
  const own = dump === undefined ? undefined : ownInstructions(dump);
  for (const key of keys.systemPrompt ?? []) {
    const found = readSystemPrompt(span.attribute(key));
    // Where the agent's instructions are part of a longer text, the rest is the framework's.
    if (found !== undefined && !NOTHING.test(found) && !REFERENCE.test(found) && !SETTING.test(found))
      return own !== undefined && found.includes(own) ? own : found;
  }
  return own;
}

/** Matches a setting that turns instructions on or off. */
const SETTING = /^(?:true|false)$/i;

/** Python's text for a function or an object that it only points to. */
const REFERENCE = /^<(?:bound method|function|class|[\w.]+ object at) [^]*>$/;

function ownInstructions(dump: JsonObject): string | undefined {
  return ['instructions', 'instruction', 'system_prompt', 'systemPrompt']
    .map((name) => member(dump, name))
    .find((value): value is string => typeof value === 'string' && value !== '');
}

/** The framework's object of the agent, if it has at least a name. */
function agentDump(span: Span, { keys }: KeyEvidence): JsonObject | undefined {
  for (const key of keys.agentDump ?? []) {
    const dump = parseContainer(textAttribute(span, key) ?? '');
    if (isJsonObject(dump) && typeof member(dump, 'name') === 'string') return dump;
  }
  return undefined;
}

export function agentNameOf(span: Span, evidence: KeyEvidence): string | undefined {
  const own = firstText(span, evidence, 'agentName');
  return (
    (isAgentNode(own) ? undefined : own) ??
    entityText(span, evidence, 'agent', 'name') ??
    graphAgent((name) => graphText(span, evidence, name))
  );
}

const graphFields: { readonly [name: string]: ScalarField | undefined } = {
  langgraph_checkpoint_ns: 'graphNamespace',
  langgraph_node: 'graphNode',
};

/** A member of LangChain's metadata: in the JSON text of all, or in a separate attribute. */
export function graphText(span: Span, evidence: KeyEvidence, name: string): string | undefined {
  const field = graphFields[name];
  const own = field === undefined ? undefined : firstText(span, evidence, field);
  return own ?? metadataText(span, evidence, [name]);
}

export function metadataText(
  span: Span,
  { keys }: KeyEvidence,
  members: readonly string[],
  read: typeof textIn = textIn,
): string | undefined {
  for (const key of keys.metadata ?? []) {
    const text = textAttribute(span, key) ?? '';
    const metadata = members.some((name) => text.includes(name)) ? parseContainer(text) : undefined;
    if (!isJsonObject(metadata)) continue;
    for (const name of members) {
      const value = read(metadata, name);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

/** A traced function of an agent may be given its session by name, and a whole run somewhere in its input. */
export function sessionArgument(span: Span, { keys }: KeyEvidence): string | undefined {
  for (const key of keys.input ?? []) {
    const text = textAttribute(span, key) ?? '';
    if (!text.includes('session_id')) continue;
    const session = text.includes('"kwargs"') ? sessionInCall(text) : undefined;
    if (session !== undefined) return session;
    if (span.parentSpanId === undefined) {
      const [only, ...others] = new Set([...text.matchAll(SESSION)].map(([, id]) => id));
      if (only !== undefined && others.length === 0) return only;
    }
  }
  return undefined;
}

const SESSION = /"session_id": ?"([^"\\]{1,200})"/g;

function sessionInCall(text: string): string | undefined {
  const call = parseContainer(text);
  const written = isJsonObject(call) ? member(call, 'kwargs') : undefined;
  const given = typeof written === 'string' ? parseContainer(written) : written;
  return isJsonObject(given) ? idIn(given, 'session_id') : undefined;
}
