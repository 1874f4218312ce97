import { openApiDocument } from '../../src/web/api/serve-api.ts';
import { routes } from '../../src/web/api/routes.ts';
import type { Route } from '../../src/web/api/route.ts';
import { type JsonObject, type JsonValue, jsonText } from '../../src/model/json.ts';

export function apiPage(): string {
  const document = openApiDocument(routes);
  return `# API

<!-- Written by npm run docs from the routes that are served. -->

The console listener serves runs and verdicts as JSON under \`/api/v1\`; \`/api/v1/openapi.json\` is the same as this page for programs (OpenAPI
${String(document['openapi'])}). Where \`listen.tokens\` names tokens, send one that may \`read\` as \`Authorization: Bearer\`.
A POST, PUT or DELETE needs a token that may \`operate\` or \`annotate\`. It has a body only where this page names one.

Names are in snake_case, ids in lower-case hex, times in RFC 3339 with microseconds. An unknown value is null. Lists have the form
\`{ "runs": […], "next": cursor | null }\`. Send the cursor as \`cursor\`, with the same filters, to continue behind the last entry. Entries that were added
meanwhile change nothing. Errors are \`{ "error": { "code", "message", "todo" } }\`. An unknown parameter is an error.

    curl 'http://127.0.0.1:4380/api/v1/runs?evaluator=tool_error&verdict=fail&limit=10'

${routes.map(routeText).join('\n\n')}

## Verdicts

The filter \`verdict\` takes these values:

| value | meaning |
|---|---|
| \`pass\`, \`fail\` | a score with a threshold |
| \`raw\` | a score without a threshold |
| \`skipped\` | the run had nothing to score |
| \`error\` | the evaluation reached no verdict |

In a verdict, \`status\` is \`scored\`, \`skipped\` or \`failed\`. \`passed\` is null unless there is a score and a threshold.
\`revision\` is the revision of the run that the verdict is about. While a judge has not seen a newer revision, its verdict on the older one stays. \`judge_trace\` is
the trace with the [calls to the judge](../guides/judges.md#spans-of-judge-calls).
`;
}

function routeText({
  method,
  path,
  summary,
  body,
  statuses,
  refusals = {},
  path_parameters: inPath,
  query_parameters: inQuery,
}: Route): string {
  const rows = [
    ...Object.entries(inPath).map(([name, schema]) => parameterRow(`{${name}}`, schema)),
    ...Object.entries(inQuery).map(([name, schema]) => parameterRow(name, schema)),
  ];
  const meanings = Object.entries({ ...statuses?.meanings, ...refusals });
  return `## \`${method === 'get' ? '' : `${method.toUpperCase()} `}/api/v1${path}\`

${summary}${rows.length === 0 ? '' : `\n\n| parameter | type | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}`}${body === undefined ? '' : `\n\n${bodyText(body.schema)}`}${
    meanings.length === 0 ? '' : `\n\n${meanings.map(([status, meaning]) => `- ${status}: ${meaning}`).join('\n')}`
  }`;
}

/** Members of a body that is a list of objects under one key, or an object. */
function bodyText(schema: JsonObject): string {
  const members = Object.entries(schema['properties'] as { readonly [key: string]: JsonObject });
  const [[key, list] = ['', {}]] = members;
  const head = '| member | type | meaning |\n|---|---|---|\n';
  if (members.length > 1 || list['items'] === undefined) return `The body is an object:\n\n${head}${memberRows(schema)}`;
  const entries = `${String(list['minItems'])} to ${String(list['maxItems'])} entries of:`;
  return `The body is \`{ "${key}": […] }\` with ${entries}\n\n${head}${memberRows(list['items'] as JsonObject)}`;
}

function memberRows({ properties, required = [] }: JsonObject): string {
  return Object.entries(properties as { readonly [name: string]: JsonObject })
    .map(
      ([name, one]) =>
        `| \`${name}\`${(required as readonly string[]).includes(name) ? '' : ' (may be left out)'} | ${memberType(one)} | ${String(one['description'] ?? '')} |`,
    )
    .join('\n');
}

function memberType({ enum: values, type, minimum, maximum, format }: JsonObject): string {
  if (Array.isArray(values))
    return values
      .filter((value) => value !== null)
      .map((value) => `\`${String(value)}\``)
      .join(', ');
  const name = [type].flat()[0];
  if (name === 'number' || name === 'integer') return `number, ${rangeText({ minimum, maximum })}`;
  if (name === 'array') return 'list';
  if (name === 'object' || name === undefined) return 'object';
  return name === 'boolean' ? '`true`, `false`' : format === undefined ? 'text' : 'time';
}

function rangeText({ minimum, maximum }: { readonly minimum?: JsonValue | undefined; readonly maximum?: JsonValue | undefined }): string {
  if (maximum === undefined) return minimum === undefined ? 'any' : `from ${String(minimum)}`;
  return minimum === undefined ? `to ${String(maximum)}` : `${String(minimum)} to ${String(maximum)}`;
}

function parameterRow(name: string, schema: JsonObject): string {
  const values = schema['enum'];
  const type = Array.isArray(values)
    ? values.map((value) => `\`${String(value)}\``).join(', ')
    : schema['type'] === 'integer'
      ? `whole number, ${rangeText(schema)}`
      : 'text';
  return `| \`${name}\` | ${type} | ${schema['default'] === undefined ? '' : `\`${jsonText(schema['default'])}\``} | ${String(schema['description'] ?? '')} |`;
}
