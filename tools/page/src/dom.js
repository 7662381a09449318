// dom.js - the few ways in which this page makes elements. Texts are set as text: nothing in a profile is ever read as HTML.

export const byId = id => document.getElementById(id);

// element("td", {class: "number", title: "..."}, "text" or node, ...); properties that are null or false are left out.
export function element(name, properties, ...content) {
	const made = document.createElement(name);

	for (const [key, value] of Object.entries(properties ?? {}))
		if (value !== null && value !== undefined && value !== false)
			made.setAttribute(key, value === true ? "" : value);
	made.append(...content.filter(part => part !== null));
	return made;
}
