import { state } from "../live/store.ts";
import { Empty } from "../ui/empty.tsx";
import { More } from "../ui/more.tsx";
import { RenderCard } from "./card.tsx";

export function RendersPane() {
  const renders = state.value?.renders;
  if (renders === undefined) return null;
  if (renders.items.length === 0)
    return (
      <Empty
        title="No renders"
        hint="Upload an image, look a composition up and create a render: partner.renders.create(…). Its picture appears here when it is completed."
      />
    );
  return (
    <>
      <ul class="gallery">
        {renders.items.map((render) => (
          <li key={render.reference}>
            <RenderCard render={render} />
          </li>
        ))}
      </ul>
      <More list={renders} noun="renders" />
    </>
  );
}
