import { inWorld } from "../live/path.ts";

/** Pictures that open in full in a new tab. */
export function Photos({ paths, of }: { readonly paths: readonly string[]; readonly of: string }) {
  if (paths.length === 0) return null;
  return (
    <ul class="photos">
      {paths.map((path, position) => (
        <li key={path}>
          <a href={inWorld(path)} target="_blank" rel="noreferrer">
            <img src={inWorld(path)} alt={`${of}, ${position + 1} of ${paths.length}`} loading="lazy" />
          </a>
        </li>
      ))}
    </ul>
  );
}
