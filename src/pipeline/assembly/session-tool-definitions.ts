/**
 * Completes tool definitions within a session. Some SDKs report the definition of a tool only where it is called. Other turns of the same
 * agent supply it, unless two of them contradict each other.
 */
import type { ToolDefinition } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Tenant } from '../../model/ids.ts';
import type { JsonValue } from '../../model/json.ts';
import { textAttribute } from '../../model/span.ts';
import type { Draft } from './assemble.ts';
import { fingerprint } from './fingerprint.ts';
import { sharedLru } from '../../runtime/lru.ts';

/** Limit of sessions; the least recently used one of the tenant with the most goes first. */
export const sessionsMax = 10_000;
const toolsPerSessionMax = 200;
/** Turns per session that later turns can complete. */
const turnsPerSessionMax = 100;

export interface SessionTools<Trace> {
  /** Records the tool definitions of a trace's runs. Returns the traces of other turns that can now be completed. */
  learn(trace: Trace, drafts: readonly Draft[]): readonly Trace[];
  /** The drafts with definitions from other turns of their sessions. */
  filled(drafts: readonly Draft[]): readonly Draft[];
  forget(trace: Trace): void;
  /** Takes in a note of another gatherer; returns the traces that can now learn more. */
  hear(note: SessionNote): readonly Trace[];
}

/** The note on the tools of a session that gatherers exchange, so that turns in different gatherers learn from each other. */
export interface SessionNote {
  readonly tenant: Tenant;
  readonly key: string;
  readonly tools: readonly (readonly [string, Readonly<KnownTool>])[];
  /** The sender has turns that name tools without a definition: it wants to hear more of them. */
  readonly isWanted: boolean;
}

interface Session<Trace> {
  readonly tools: Map<string, KnownTool>;
  /** Traces with runs that name a tool without its definition. Absent in most of thousands of sessions, where every tool is defined. */
  wanting: Set<Trace> | undefined;
  /** The other gatherers know that traces here want definitions. */
  isAsked: boolean;
  /** Another gatherer wants definitions. */
  isWanted: boolean;
}

/** Null when turns contradict each other. */
interface KnownTool {
  description: string | null | undefined;
  inputSchema: JsonValue | null | undefined;
}

/** `publish` sends notes to the other gatherers; omitted when there are none. */
export function sessionTools<Trace>(publish?: (note: SessionNote) => void): SessionTools<Trace> {
  const sessions = sharedLru<Session<Trace>>(sessionsMax);
  const wantingIn = new Map<Trace, Set<Session<Trace>>>();

  function sessionOf(tenant: Tenant, key: string): Session<Trace> {
    const session = sessions.get(tenant, key) ?? { tools: new Map(), wanting: undefined, isAsked: false, isWanted: false };
    sessions.set(tenant, key, session);
    return session;
  }

  function wants(trace: Trace, session: Session<Trace>): void {
    const wanting = (session.wanting ??= new Set());
    if (wanting.size >= turnsPerSessionMax) return;
    wanting.add(trace);
    wantingIn.set(trace, (wantingIn.get(trace) ?? new Set()).add(session));
  }

  return {
    learn(trace, drafts) {
      const affected = new Set<Trace>();
      for (const draft of drafts) {
        const key = sessionKey(draft);
        const { toolDefinitions } = draft.trace;
        if (key === undefined || toolDefinitions.length === 0) continue;
        const { tenant } = draft.key;
        const session = sessionOf(tenant, key);
        let isNew = false;
        for (const definition of toolDefinitions) if (learned(session.tools, definition)) isNew = true;
        const asks = !session.isAsked && toolDefinitions.some(isBare);
        if (asks) session.isAsked = true;
        if (asks || (isNew && session.isWanted)) publish?.({ tenant, key, tools: [...session.tools], isWanted: asks });
        if (isNew) for (const other of session.wanting ?? []) if (other !== trace) affected.add(other);
        if (toolDefinitions.some(isBare)) wants(trace, session);
      }
      return [...affected];
    },
    filled: (drafts) =>
      drafts.map((draft) => {
        const key = draft.trace.toolDefinitions.some(isBare) ? sessionKey(draft) : undefined;
        const session = key === undefined ? undefined : sessions.get(draft.key.tenant, key);
        if (session === undefined) return draft;
        return {
          ...draft,
          trace: {
            ...draft.trace,
            toolDefinitions: draft.trace.toolDefinitions.map((definition) => completed(definition, session.tools.get(definition.name))),
          },
          asksSession: true as const,
        };
      }),
    hear({ tenant, key, tools, isWanted }) {
      const session = sessionOf(tenant, key);
      if (isWanted && session.tools.size > 0) publish?.({ tenant, key, tools: [...session.tools], isWanted: false });
      session.isWanted ||= isWanted;
      let isNew = false;
      for (const [name, { description, inputSchema }] of tools) {
        const isContradicted = contradicted(session.tools, name, { description, inputSchema });
        const told = {
          name,
          ...(description === null || description === undefined ? {} : { description }),
          ...(inputSchema === null || inputSchema === undefined ? {} : { inputSchema }),
        };
        if (learned(session.tools, told) || isContradicted) isNew = true;
      }
      return isNew ? [...(session.wanting ?? [])] : [];
    },
    forget(trace) {
      for (const session of wantingIn.get(trace) ?? []) {
        session.wanting?.delete(trace);
        if (session.wanting?.size === 0) session.wanting = undefined;
      }
      wantingIn.delete(trace);
    },
  };
}

/** Turns belong to one agent of one service in one session of a tenant. */
function sessionKey({ span, trace }: Draft): string | undefined {
  if (trace.sessionId === undefined) return undefined;
  return JSON.stringify([textAttribute(span.resource, wire.serviceName) ?? '', trace.sessionId, trace.agent ?? '']);
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

/** Marks as contradictory what another gatherer found contradictory. True when that is new. */
function contradicted(tools: Map<string, KnownTool>, name: string, { description, inputSchema }: Readonly<KnownTool>): boolean {
  const known = tools.get(name) ?? { description: undefined, inputSchema: undefined };
  const isNew = (description === null && known.description !== null) || (inputSchema === null && known.inputSchema !== null);
  if (!isNew || (!tools.has(name) && tools.size >= toolsPerSessionMax)) return false;
  if (description === null) known.description = null;
  if (inputSchema === null) known.inputSchema = null;
  tools.set(name, known);
  return true;
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
