/**
 * Completes tool definitions within a session. Some SDKs report the definition of a tool only where it is called. Other turns of the same
 * agent supply it, unless two of them contradict each other.
 */
import type { ToolDefinition } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { JsonValue } from '../../model/json.ts';
import { textAttribute } from '../../model/span.ts';
import type { Draft } from './assemble.ts';
import { fingerprint } from './fingerprint.ts';
import { trimOldest } from '../../runtime/lru.ts';

/** Limit of sessions; the least recently used goes first. */
const sessionsMax = 10_000;
const toolsPerSessionMax = 200;
/** Turns per session that later turns can complete. */
const turnsPerSessionMax = 100;

export interface SessionTools<Trace> {
  /** Records the tool definitions of a trace's runs. Returns the traces of other turns that can now be completed. */
  learn(trace: Trace, drafts: readonly Draft[]): readonly Trace[];
  /** The drafts with definitions from other turns of their sessions. */
  filled(drafts: readonly Draft[]): readonly Draft[];
  forget(trace: Trace): void;
}

interface Session<Trace> {
  readonly tools: Map<string, KnownTool>;
  /** Traces with runs that name a tool without its definition. */
  readonly wanting: Set<Trace>;
}

/** Null when turns contradict each other. */
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
      const affected = new Set<Trace>();
      for (const draft of drafts) {
        const key = sessionKey(draft);
        const { toolDefinitions } = draft.trace;
        if (key === undefined || toolDefinitions.length === 0) continue;
        const session = sessionOf(key);
        let isNew = false;
        for (const definition of toolDefinitions) if (learned(session.tools, definition)) isNew = true;
        if (isNew) for (const other of session.wanting) if (other !== trace) affected.add(other);
        if (toolDefinitions.some(isBare)) wants(trace, session);
      }
      return [...affected];
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

/** Turns belong to one agent of one service in one session. */
function sessionKey({ key, span, trace }: Draft): string | undefined {
  if (trace.sessionId === undefined) return undefined;
  return JSON.stringify([key.tenant, textAttribute(span.resource, wire.serviceName) ?? '', trace.sessionId, trace.agent ?? '']);
}

function isBare({ description, inputSchema }: ToolDefinition): boolean {
  return description === undefined || inputSchema === undefined;
}

/** Returns true when something is new or no longer consistent. */
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
 * The tools of a run. If its spans name tools, the configuration only completes their definitions and adds none, as a call of a tool that
 * was not offered must show. If they name none, the configured list counts.
 */
export function offeredTools(
  reported: readonly ToolDefinition[],
  configured: ReadonlyMap<string, ToolDefinition>,
): readonly ToolDefinition[] {
  if (reported.length === 0) return [...configured.values()];
  return reported.map((definition) => ({ ...configured.get(definition.name), ...definition }));
}
