import { opened } from "../live/store.ts";
import { Details } from "../requests/details.tsx";
import { RequestsPane } from "../requests/pane.tsx";
import { isNarrow } from "../ui/media.ts";
import { Gauges } from "./gauges.tsx";
import { Header } from "./header.tsx";
import { Notice } from "./notice.tsx";
import { Tabs } from "./tabs.tsx";

/** The page: what the client did at the left, the service at the right. An opened request covers the service. */
export function App() {
  const id = opened.value;
  return (
    <>
      <Header />
      <Gauges />
      <main class="columns">
        {isNarrow.value ? null : (
          <section class="list" aria-label="Requests">
            <RequestsPane />
          </section>
        )}
        <div class="right">
          <Tabs />
          {id === undefined ? null : <Details id={id} />}
        </div>
      </main>
      <Notice />
    </>
  );
}
