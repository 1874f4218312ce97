/** `docs/reference/errors.md`, from the catalogue of errors. */
import { errorCatalogue, JuryError, type ErrorCode } from '../../src/model/errors.ts';
import { statusText } from '../../src/receivers/grpc/grpc-message.ts';
import { rejectionOf } from '../../src/receivers/rejection.ts';

export function errorsPage(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { what, todo, status, retryable }]) =>
      `| \`${code}\` | ${what} | ${todo} | ${status} | ${grpcStatus(code as ErrorCode)} | ${retryable ? 'yes' : 'no'} |`,
  );
  return `${[opening, ['| code | what it means | what to do | HTTP status | over gRPC | try again |', '|---|---|---|---|---|---|', ...rows].join('\n')].join('\n\n')}\n`;
}

function grpcStatus(code: ErrorCode): string {
  const text = statusText(rejectionOf(new JuryError(code, '')));
  return /^\d+$/.test(text) ? `HTTP ${text}` : `\`${text}\``;
}

const opening = `# Errors

<!-- Written by npm run docs from the catalogue of errors. -->

Every error has a code, and its message adds the details. The status is that of an HTTP answer. “Try again” shows whether the same request may succeed
later; OTLP exporters repeat it by themselves.`;
