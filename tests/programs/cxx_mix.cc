/* cxx_mix.cc - a C++ program with exceptions and threads over the standard containers; its output is fixed. */
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

struct Node {
	std::string name;
	std::vector<std::unique_ptr<Node>> children;
};

std::unique_ptr<Node> grow(int depth, const std::string &name)
{
	auto node = std::make_unique<Node>();
	node->name = name + std::string(40, 'x');
	for (int i = 0; depth > 0 && i < 4; i++)
		node->children.push_back(grow(depth - 1, name + std::to_string(i)));
	return node;
}

std::size_t count(const Node &node)
{
	std::size_t n = 1;
	for (const auto &child : node.children)
		n += count(*child);
	return n;
}

/* Throws from `depth` frames down, through frames that own memory. */
void descend(int depth)
{
	std::string owned(static_cast<std::size_t>(depth) * 10 + 100, 'o');
	if (depth == 0)
		throw std::runtime_error(owned);
	descend(depth - 1);
}

long words(unsigned seed)
{
	std::map<std::string, long> table;
	for (unsigned i = 0; i < 30000; i++) {
		seed = seed * 1664525U + 1013904223U;
		table["a key that is too long to be kept inside " + std::to_string(seed % 5000)] += i;
	}
	long sum = 0;
	for (const auto &[key, value] : table)
		sum += value ^ static_cast<long>(key.size());
	return sum;
}

} // namespace

int main()
{
	std::vector<std::future<long>> results;
	for (unsigned t = 0; t < 4; t++)
		results.push_back(std::async(std::launch::async, [t] {
			long caught = 0;
			for (int i = 0; i < 500; i++) {
				try {
					descend(i % 50);
				} catch (const std::runtime_error &error) {
					caught += static_cast<long>(std::string(error.what()).size());
				}
			}
			return caught + words(t);
		}));
	auto tree = grow(6, "root");
	std::printf("tree %zu\n", count(*tree));
	for (auto &result : results)
		std::printf("thread %ld\n", result.get());
	try {
		std::string().at(1);
	} catch (const std::out_of_range &error) {
		std::printf("caught %d\n", error.what()[0] != '\0');
	}
	return 3;
}
