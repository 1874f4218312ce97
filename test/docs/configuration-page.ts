/** `docs/reference/configuration.md`, from the configuration's schema. */
import { evaluators } from '../../evaluators/index.ts';
import { configVariables } from '../../src/config/overrides.ts';
import { type ReferenceRow, referenceRows, rowOf } from '../../src/config/schema.ts';
import { sections } from '../../src/config/sections/index.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, member, type JsonValue } from '../../src/model/json.ts';

export function configurationPage(): string {
  return `${[opening, ...Object.entries(sections(evaluators).schema['properties'] as { readonly [key: string]: JsonObject }).map(sectionText), closing].join('\n\n')}\n`;
}

const opening = `# Configuration

<!-- Written by npm run docs from the configuration's schema. -->

\`\`\`yaml
evaluators: [ defaults, tool_recovery ]
judges:
  main: { base_url: https://api.openai.com/v1, model: gpt-5-mini, api_key: "\${env:OPENAI_API_KEY}" }
export:
  - { to: phoenix, endpoint: http://127.0.0.1:6006 }
\`\`\`

A configuration is one YAML file, given with \`tracejury serve -c FILE\`. Every key has a default; without a file, all defaults apply.

- \`tracejury config check FILE\` names all faults at once, each with line and column; \`--try\` asks the backends of \`export\` and the judges whether they take the credentials.
- \`tracejury config print FILE\` shows the effective configuration, secrets masked.
- \`tracejury config schema\` prints the JSON Schema for editors.

Durations are written with a unit: \`500ms\`, \`5s\`, \`10m\`, \`1h\`, \`7d\`. Sizes are written in binary units or plain bytes: \`512KiB\`,
\`16MiB\`, \`4GiB\`, \`1048576\`. Unknown keys are refused.

\`\${env:NAME}\` in a value is replaced by an environment variable, as in the OpenTelemetry Collector. \`\${env:NAME:-default}\` has a value
for a variable that is not set, and \`$$\` is a dollar sign. A value that is only one substitution gets its type by the rules of YAML, quoted
or not, unless the key takes a text. It never becomes a list or a mapping. Inside \`{ }\` and \`[ ]\` it must be quoted. Anchors and aliases
work, merge keys (\`<<\`) do not.

The service reads the file again on SIGHUP, and when it or a file that it names changes ([operations](../guides/operations.md#changing-the-configuration)).
Keys with ↻ need a restart. All other keys are in force at once. A file with a fault changes nothing.`;

const closing = `## Environment

\`to: span_events\` reads the standard variables for keys that its entry leaves out:

| key | variables |
|---|---|
| \`endpoint\` | \`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT\`, \`OTEL_EXPORTER_OTLP_ENDPOINT\` |
| \`headers\` | \`OTEL_EXPORTER_OTLP_TRACES_HEADERS\`, \`OTEL_EXPORTER_OTLP_HEADERS\` |
| \`tls\`, for an endpoint that begins with https:// | \`OTEL_EXPORTER_OTLP_CERTIFICATE\`, \`OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE\`, \`OTEL_EXPORTER_OTLP_CLIENT_KEY\` |

Paths in variables are relative to the folder in which the service starts. \`log_events\`, \`metrics\` and \`forward\` use the variables of
their signal (\`LOGS\`, \`METRICS\`, \`TRACES\`) in the same way.

These variables beat the file, for containers: ${configVariables.map(({ name, path }) => `\`${name}\` (\`${path.join('.')}\`)`).join(', ')}. The flags \`--port\` and \`--log-level\` of
\`tracejury serve\` beat both. \`OTEL_LOG_LEVEL\` sets the level where none of them does: \`none\` is \`silent\`, \`verbose\` and \`all\` are \`trace\`. An empty variable counts as not set.`;

function sectionText([key, schema]: readonly [string, JsonObject]): string {
  const rows = referenceRows({ properties: { [key]: schema } }, [], '').slice(1);
  const own = rowOf({ key, path: [key], schema, required: false });
  const preset = member(schema, 'default');
  const facts = [own.meaning, isEmpty(preset) ? '' : `Default: \`${jsonText(preset ?? null)}\`.`].filter((text) => text !== '');
  const table = rows.filter(isLeaf).map((row) => tableRow(row));
  return [
    `## ${key}`,
    facts.join(' '),
    ...(table.length === 0 ? [] : [['| key | type | default | meaning |', '|---|---|---|---|', ...table].join('\n')]),
  ].join('\n\n');

  /** A mapping is described by its members, unless it has a description. */
  function isLeaf(row: ReferenceRow): boolean {
    const isParent = rows.some(
      (other) => other.path.length > row.path.length && row.path.every((part, index) => part === other.path[index]),
    );
    return !isParent || row.meaning !== '';
  }
}

function tableRow({ key, type, preset, required, needsRestart, meaning }: ReferenceRow): string {
  const shown = required ? 'required' : preset === undefined ? '' : `\`${preset === '' ? '""' : preset}\``;
  const restart = needsRestart ? ' ↻' : '';
  return `| \`${key}\`${restart} | ${cell(type)} | ${cell(shown)} | ${cell(meaning)} |`;
}

function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || (isJsonObject(value) && Object.keys(value).length === 0) || (isJsonArray(value) && value.length === 0);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
