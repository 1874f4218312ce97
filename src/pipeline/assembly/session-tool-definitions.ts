/**
 * Some SDKs tell a tool's definition only where it is called. In a session the other turns of the same agent tell the rest: what one turn
 * told of a tool is true in the others, unless two of them contradict each other.
 */
import type { ToolDefinition } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { JsonValue } from '../../model/json.ts';
import { textAttribute } from '../../model/span.ts';
import type { Draft } from './assemble.ts';
import { fingerprint } from './fingerprint.ts';
import { trimOldest } from '../../runtime/lru.ts';

/** Sessions that are remembered; beyond, the one that was heard of longest ago is forgotten. */
const sessionsMax = 10_000;
const toolsPerSessionMax = 200;
/** Turns that are told what later ones know. */
const turnsPerSessionMax = 100;

export interface SessionTools<Trace> {
  /** Notes what the runs of a trace tell of their tools; gives the traces of other turns that can now be told more. */
  learn(trace: Trace, drafts: readonly Draft[]): readonly Trace[];
  /** The drafts, with what other turns of their sessions told of the tools that they name. */
  filled(drafts: readonly Draft[]): readonly Draft[];
  forget(trace: Trace): void;
}

interface Session<Trace> {
  readonly tools: Map<string, KnownTool>;
  /** Traces with runs that name a tool and do not define it. */
  readonly wanting: Set<Trace>;
}

/** Null: turns contradict each other. */
interface KnownTool {
  description: string | null | undefined;
  inputSchema: JsonValue | null | undefined;
}

export function sessionTools<Trace>(): SessionTools<Trace> {
  const sessions = new Map<string, Session<Trace>>();
  const wantingIn = new Map<Trace, Set<Session<Trace>>>();

  function sessionOf(key: string): Session<Trace> {
    const session = sessions.get(key) ?? { tools: new Map(), wanting: new Set() };
    sessions.delete(key);
    sessions.set(key, session);
    trimOldest(sessions, sessionsMax);
    return session;
  }

  function wants(trace: Trace, session: Session<Trace>): void {
    if (session.wanting.size >= turnsPerSessionMax) return;
    session.wanting.add(trace);
    wantingIn.set(trace, (wantingIn.get(trace) ?? new Set()).add(session));
  }

  return {
    learn(trace, drafts) {
      const told = new Set<Trace>();
      for (const draft of drafts) {
        const key = sessionKey(draft);
        const { toolDefinitions } = draft.trace;
        if (key === undefined || toolDefinitions.length === 0) continue;
        const session = sessionOf(key);
        let isNew = false;
        for (const definition of toolDefinitions) if (learned(session.tools, definition)) isNew = true;
        if (isNew) for (const other of session.wanting) if (other !== trace) told.add(other);
        if (toolDefinitions.some(isBare)) wants(trace, session);
      }
      return [...told];
    },
    filled: (drafts) =>
      drafts.map((draft) => {
        const key = draft.trace.toolDefinitions.some(isBare) ? sessionKey(draft) : undefined;
        const session = key === undefined ? undefined : sessions.get(key);
        if (session === undefined) return draft;
        return {
          ...draft,
          trace: {
            ...draft.trace,
            toolDefinitions: draft.trace.toolDefinitions.map((definition) => completed(definition, session.tools.get(definition.name))),
          },
        };
      }),
    forget(trace) {
      for (const session of wantingIn.get(trace) ?? []) session.wanting.delete(trace);
      wantingIn.delete(trace);
    },
  };
}

/** Turns are one agent's of one service in one session. */
function sessionKey({ key, span, trace }: Draft): string | undefined {
  if (trace.sessionId === undefined) return undefined;
  return JSON.stringify([key.tenant, textAttribute(span.resource, wire.serviceName) ?? '', trace.sessionId, trace.agent ?? '']);
}

function isBare({ description, inputSchema }: ToolDefinition): boolean {
  return description === undefined || inputSchema === undefined;
}

/** True: something was not known before, or is not believed any more. */
function learned(tools: Map<string, KnownTool>, { name, description, inputSchema }: ToolDefinition): boolean {
  if (description === undefined && inputSchema === undefined) return false;
  const known = tools.get(name) ?? { description: undefined, inputSchema: undefined };
  if (!tools.has(name) && tools.size >= toolsPerSessionMax) return false;
  tools.set(name, known);
  const before = { description: known.description, inputSchema: known.inputSchema };
  if (description !== undefined)
    known.description = known.description === undefined || known.description === description ? description : null;
  if (inputSchema !== undefined)
    known.inputSchema = known.inputSchema === undefined || isSame(known.inputSchema, inputSchema) ? inputSchema : null;
  return (
    (before.description === null) !== (known.description === null) ||
    (before.inputSchema === null) !== (known.inputSchema === null) ||
    (before.description === undefined) !== (known.description === undefined) ||
    (before.inputSchema === undefined) !== (known.inputSchema === undefined)
  );
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return a === b || fingerprint(a) === fingerprint(b);
}

function completed(definition: ToolDefinition, known: KnownTool | undefined): ToolDefinition {
  const { description = null, inputSchema = null } = known ?? {};
  return { ...(description === null ? {} : { description }), ...(inputSchema === null ? {} : { inputSchema }), ...definition };
}

/**
 * What a run's spans tell comes first. Where they name tools, these were offered, and the configuration only fills in what the spans
 * lack; it adds no tool to them, for a call of a tool that was not offered must show. Where they name none, the configuration's list
 * was offered.
 */
export function offeredTools(told: readonly ToolDefinition[], configured: ReadonlyMap<string, ToolDefinition>): readonly ToolDefinition[] {
  if (told.length === 0) return [...configured.values()];
  return told.map((definition) => ({ ...configured.get(definition.name), ...definition }));
}
