/* strings.cc - std::map and std::string at work: an index of lines, built, searched and thinned out. */
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace
{

constexpr int rounds = 2, lines = 40000, words_in_line = 8, vocabulary = 30000;

using index_of_lines = std::map<std::string, std::vector<std::string>>;

std::uint32_t next()
{
	static std::uint32_t state = 1;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

/* Some words are short enough to need no memory of their own. */
std::string word()
{
	std::uint32_t number = next() % vocabulary;

	return std::string(number % 3 == 0 ? "w" : "a longer word, number ") + std::to_string(number);
}

void add_line(index_of_lines &index, int number)
{
	std::vector<std::string> words;
	std::string line = std::to_string(number);

	for (int i = 0; i < words_in_line; i++) {
		words.push_back(word());
		line += ' ' + words.back();
	}
	for (const std::string &each : words)
		index[each].push_back(line);
}

std::size_t search(const index_of_lines &index)
{
	std::size_t found = 0;

	for (int i = 0; i < lines; i++) {
		auto at = index.find(word());

		if (at != index.end())
			found += at->second.front().substr(at->first.size()).size();
	}
	return found;
}

} // namespace

int main()
{
	std::size_t found = 0;

	for (int round = 0; round < rounds; round++) {
		index_of_lines index;

		for (int i = 0; i < lines; i++)
			add_line(index, i);
		found += search(index);
		for (auto at = index.begin(); at != index.end();)
			at = next() % 2 == 0 ? index.erase(at) : std::next(at);
		found += search(index);
	}
	std::printf("%zu\n", found);
	return 0;
}
