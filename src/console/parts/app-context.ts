/** Context of every component: the client of the API, the session, the keys and messages. `App` makes them once. */
import { createContext } from 'preact';
import type { ApiClient } from '../api/client.ts';
import type { SessionState } from '../api/session.ts';
import type { KeyRegistry } from './key-registry.ts';
import type { UnsavedForms } from './unsaved-forms.ts';

/** Reached by `useContext(AppContext)`. */
export interface AppParts {
  readonly api: ApiClient;
  readonly keys: KeyRegistry;
  readonly session: SessionState;
  /** Addresses of the runs that the newest list has shown, in its order. */
  readonly runList: { current: readonly string[] };
  /** The name that the person has chosen for labels, for the next run too. */
  readonly labelName: { current: string | undefined };
  /** The dataset that took the last examples. */
  readonly datasetName: { current: string | undefined };
  readonly unsaved: UnsavedForms;
  /** Shows a short message, and reads it out. */
  readonly toast: (text: string, kind?: 'done' | 'failed') => void;
}

export const AppContext = createContext<AppParts>(undefined as unknown as AppParts);
