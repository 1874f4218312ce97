/** The subject of a span by its name, without the words that SDKs put around it. */
import type { Span } from '../../src/model/span.ts';
import { kindIn } from './kind-words.ts';

/** A name that an SDK forgot to fill in is none: `invoke_agent {gen_ai.agent.name}`. */
export const TEMPLATE = /\{[^{}]*\}|<[^<>]*>|%s/;
const AROUND_NAME =
  /^(?:invoke_agent|execute_tool|create_agent|tool|agent|sub[-_]?agent|function)[ :./]+|^(?:Tool|Agent|Function)[:./]+|\.(?:__call__|[_a-z][_a-z0-9]*)$/g;

/** The operation before the name: `ai.generateText order_support`. */
const OPERATION = /^[a-z]\w*(?:\.\w+)+ (?=\S)/;

/** The framework's class before the name: `AxGen > order_support`. */
const CLASS = /^[A-Z]\w* (?:>|→|») (?=\S)/;

/** A hand-over looks like a tool, but no tool runs. */
const HANDOFF = /^hand[-_ ]?off[-_ ]to[-_ ](.{1,200})$/i;

/** The agent that a span of a hand-over names: `handoff to pickup_planner`. */
export function handoffIn(name: string | undefined): string | undefined {
  return name === undefined ? undefined : HANDOFF.exec(name)?.[1];
}

/** A traced function after its module: `shop.tools.find_order`. */
const FUNCTION = /^(?:[a-z_]\w*\.)+([a-z_]\w*)$/;
/** Methods after the tool that they run. */
const METHOD = /^_*a?(?:run|call|invoke|execute|forward|tool|use|start|end|step|handler?)_*$|^on_/;

/** The subject of a span by its name. */
export function spanName(span: Span): string | undefined {
  const quoted = kindAndName(span.name);
  if (quoted?.kind !== undefined) return quoted.name;
  const name = span.name.replace(CLASS, '').replace(OPERATION, '').replaceAll(AROUND_NAME, '').trim();
  return name === '' || TEMPLATE.test(name) ? undefined : name;
}

/** The tool that a span of a call is named after. */
export function toolInName(span: Span): string | undefined {
  const name = FUNCTION.exec(span.name)?.[1];
  return name === undefined || METHOD.test(name) ? spanName(span) : name;
}

/** `ReaderAgent.run`, `shop.flows.main`, `answer()`: a piece of code that the span is named after. */
const CODE = /^(?:\w+\.)+_*\w+(?:\(\))?$|^\w+\(\)$/;

/** `Execution[library_desk]`: the subject is in brackets behind its kind. */
const BRACKETED = /^\w{1,100}\[([^[\]]{1,200})\]$/;

/** `tool: 'find_order'`, `agent run: 'order_support'`: the name is in quotes behind the kind of the span. */
const QUOTED = /^([a-z]{1,20}(?: [a-z]{1,20}){0,2}): '([^']{1,200})'$/;

/** The kind and the name in a span's name; `undefined` when it is not of that form. */
export function kindAndName(name: string): { readonly kind: ReturnType<typeof kindIn>; readonly name: string } | undefined {
  const [, kind, quoted] = QUOTED.exec(name) ?? [];
  return quoted === undefined ? undefined : { kind: kindIn(kind), name: quoted };
}

/** The name that a span of a run has beside what its framework writes; undefined: it is named after code. */
export function runName(name: string): string | undefined {
  const inner = BRACKETED.exec(name)?.[1] ?? name;
  return CODE.test(inner) ? undefined : inner;
}
