import { baseUrl, requests, skipped } from "../live/store.ts";
import { reloadRequests } from "../live/stream.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { count } from "../ui/format.ts";
import { curlOf } from "./curl.ts";
import { filtered } from "./filter.ts";
import { FilterBar } from "./filter-bar.tsx";
import { RequestList } from "./list.tsx";
import { Pulse } from "./pulse.tsx";

function Skipped() {
  if (skipped.value === 0) return null;
  return (
    <p class="skipped">
      {count(skipped.value)} requests came too fast to be shown live.{" "}
      <Button onPress={reloadRequests}>Read the list again</Button>
    </p>
  );
}

function Content() {
  if (filtered.value.length > 0) return <RequestList />;
  if (requests.value.length > 0) return <Empty title="No request matches" hint="Change the filter, or choose “all”." />;
  return (
    <Empty
      title="Waiting for the first request"
      hint="Point your integration at this base URL, or paste this line into a terminal. The key is in the output of the emulator."
      line={curlOf(`${baseUrl.value}/orders`)}
    />
  );
}

/** The live list of requests. */
export function RequestsPane() {
  return (
    <div class="requests">
      <FilterBar />
      <Pulse />
      <Skipped />
      <Content />
    </div>
  );
}
