/** `${env:NAME}` as the OpenTelemetry Collector writes it: one pass over the text of a scalar, nothing substituted twice. */

export type Environment = { readonly [name: string]: string | undefined };

export type Substitution =
  | {
      readonly kind: 'substituted';
      readonly text: string;
      /** The variables that were read. */
      readonly names: readonly string[];
      /** The whole scalar is one `${env:NAME}`: its value is typed as if it stood there unquoted. */
      readonly whole: boolean;
    }
  | { readonly kind: 'faults'; readonly faults: readonly SubstitutionFault[] };

interface SubstitutionFault {
  readonly problem: string;
  readonly todo: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** `$$` is a dollar sign; `${…}` ends at the first closing brace, so a default value holds none. The bound keeps the search linear. */
const MARK = /\$\$|\$\{([^}]{0,1000})\}/g;

/** A variable that is set counts even when it is empty; `:-default` is for one that is not set at all. */
export function substitute(text: string, env: Environment): Substitution {
  const names: string[] = [];
  const faults: SubstitutionFault[] = [];
  const result = text.replaceAll(MARK, (_mark: string, inside: string | undefined) => {
    if (inside === undefined) return '$';
    const read = variable(inside, env);
    if (typeof read !== 'string') {
      faults.push(read.fault);
      return '';
    }
    names.push(nameOf(inside));
    return read;
  });
  if (faults.length > 0) return { kind: 'faults', faults };
  return { kind: 'substituted', text: result, names, whole: /^\$\{[^}]*\}$/.test(text) };
}

function nameOf(inside: string): string {
  const [name = ''] = inside.slice('env:'.length).split(':-', 1);
  return name;
}

function variable(inside: string, env: Environment): string | { readonly fault: SubstitutionFault } {
  const name = nameOf(inside);
  if (!inside.startsWith('env:')) {
    return {
      fault: {
        problem: `\${${inside}} names no source`,
        todo: `Write \${env:NAME} for an environment variable, or $\${…} for the characters themselves.`,
      },
    };
  }
  if (!NAME.test(name)) {
    return {
      fault: {
        problem: `${JSON.stringify(name)} is not the name of an environment variable`,
        todo: 'Use letters, digits and underscores, no digit first.',
      },
    };
  }
  const fallbackAt = inside.indexOf(':-');
  const fallback = fallbackAt < 0 ? undefined : inside.slice(fallbackAt + 2);
  if (fallback?.includes('${') === true) {
    return { fault: { problem: `the default of \${env:${name}} holds another substitution`, todo: 'Write the default as plain text.' } };
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return value;
  if (fallback !== undefined) return fallback;
  return { fault: { problem: `the environment variable ${name} is not set`, todo: `Set ${name}, or give a default: \${env:${name}:-…}.` } };
}

/** The value of a text by the core schema of YAML 1.2: null, boolean, number, else the text itself. Never a structure. */
export function typedScalar(text: string): string | number | bigint | boolean | null {
  if (/^(?:~|null|Null|NULL|)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?\d+$/.test(text)) return wholeNumber(text);
  if (/^0o[0-7]+$|^0x[0-9a-fA-F]+$/.test(text)) return Number(text);
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  return text;
}

/** Exact beyond 2^53, as everywhere in the model. */
export function wholeNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text.replace(/^\+/, ''));
}
