/** A part of a page that failed: what is wrong, what would be right, and another try. The rest of the page stays. */
import { Component, type ComponentChildren } from 'preact';
import type { ApiFailure } from '../api/client.ts';
import { DocText } from './doc-text.tsx';

export interface ErrorBoxProps {
  readonly error: Pick<ApiFailure, 'message' | 'todo' | 'code'>;
  readonly onRetry?: (() => void) | undefined;
}

export function ErrorBox({ error, onRetry }: ErrorBoxProps) {
  return (
    <div class="box failed" role="alert">
      <div class="text">
        <strong>{error.message}</strong> <DocText text={error.todo} /> <span class="dim small">({error.code})</span>
      </div>
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Keeps a fault of one part from the rest of the page. */
export class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ComponentChildren {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <ErrorBox
        error={{ code: 'console', message: `This part of the page failed: ${error.message}`, todo: 'The rest of the page works.' }}
        onRetry={() => this.setState({ error: undefined })}
      />
    );
  }
}
