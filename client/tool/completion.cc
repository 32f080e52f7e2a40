// Completions for shells, written from the subcommands and options themselves, so that they always
// agree with what the program takes.
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

#include "client/tool/arguments.h"

namespace tenure {
namespace {

struct Option {
  std::string flag;
  std::string help;
  bool takes_value;
  bool takes_file;
};

struct Command {
  std::string name;
  std::string help;
  std::vector<Option> options;
};

Command Read(const CLI::App& app) {
  Command command{app.get_name(), app.get_description(), {}};
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      command.options.push_back({"--" + name, option->get_description(),
                                 option->get_items_expected_max() > 0,
                                 option->get_type_name() == kFileType});
    }
  }
  return command;
}

std::vector<Command> Subcommands(const CLI::App& app) {
  std::vector<Command> commands;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(Read(*command));
  }
  return commands;
}

// Text for use between single quotes, on one line. Each character of `special` gets a backslash.
std::string Escaped(const std::string& text, const std::string& special,
                    const std::string& apostrophe) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) escaped += '\\';
    escaped += c == '\'' ? apostrophe : std::string(1, c == '\n' ? ' ' : c);
  }
  return escaped;
}

std::string Flags(const Command& command) {
  std::string flags;
  for (const Option& option : command.options) flags += " " + option.flag;
  return flags;
}

std::string BashScript(const Command& program, const std::vector<Command>& commands) {
  std::string names;
  std::string files = "-";  // no option at all, so that it can stand alone in a pattern
  std::string values = "-";
  std::vector<Command> all = commands;
  all.push_back(program);
  for (const Command& command : all) {
    for (const Option& option : command.options) {
      if (option.takes_value) (option.takes_file ? files : values) += "|" + option.flag;
    }
  }
  std::ostringstream cases;
  for (const Command& command : commands) {
    names += " " + command.name;
    cases << "    " << command.name << ") words+='" << Flags(command) << "' ;;\n";
  }
  std::string any = names.substr(1);
  std::replace(any.begin(), any.end(), ' ', '|');

  std::ostringstream script;
  script << "# bash completion for " << program.name << "\n_" << program.name << "() {\n"
         << R"(  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local command= word words=')"
         << Flags(program) << R"('
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      --) mapfile -t COMPREPLY < <(compgen -c -- "$current"); return ;;
      )" << any
         << R"() command=${command:-$word} ;;
    esac
  done
  case $previous in
    )" << files
         << R"() mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    )" << values
         << R"() return ;;
  esac
  case $command in
    '') words+=')"
         << names << "' ;;\n"
         << cases.str() << R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
)"
         << "complete -F _" << program.name << " " << program.name << "\n";
  return script.str();
}

std::string ZshScript(const Command& program, const std::vector<Command>& commands) {
  const auto escaped = [](const std::string& text, const char* special) {
    return Escaped(text, special, R"('\'')");
  };
  const auto arguments = [&](const Command& command) {
    std::string specs;
    for (const Option& option : command.options) {
      const std::string value = option.takes_file ? ":file:_files" : ":value: ";
      specs += " '" + option.flag + "[" + escaped(option.help, "[]\\:") + "]" +
               (option.takes_value ? value : "") + "'";
    }
    return specs;
  };

  std::ostringstream script;
  script << "#compdef " << program.name << "\nlocal -a commands=(\n";
  for (const Command& command : commands) {
    script << "  '" << command.name << ":" << escaped(command.help, "\\") << "'\n";
  }
  script << ")\nlocal -a options=(" << arguments(program) << R"()
local context state state_descr line
typeset -A opt_args
_arguments -C $options '1: :->command' '*:: :->rest' && return
if [[ $state == command ]]; then
  _describe command commands
  return
fi
case $words[1] in
)";
  for (const Command& command : commands) {
    script << "  " << command.name << ") options+=(" << arguments(command) << ") ;;\n";
  }
  script << "esac\n_arguments $options '*: :_default'\n";
  return script.str();
}

std::string FishScript(const Command& program, const std::vector<Command>& commands) {
  const std::string complete = "complete -c " + program.name;
  std::ostringstream script;
  const auto add_options = [&](const Command& command, const std::string& condition) {
    for (const Option& option : command.options) {
      script << complete << condition << " -l " << option.flag.substr(2)
             << (option.takes_file    ? " -r -F"
                 : option.takes_value ? " -x"
                                      : "")
             << " -d '" << Escaped(option.help, "\\", R"(\')") << "'\n";
    }
  };
  script << complete << " -f\n";
  add_options(program, "");
  for (const Command& command : commands) {
    script << complete << " -n __fish_use_subcommand -a " << command.name << " -d '"
           << Escaped(command.help, "\\", R"(\')") << "'\n";
    add_options(command, " -n '__fish_seen_subcommand_from " + command.name + "'");
  }
  return script.str();
}

}  // namespace

void AddCompletionCommand(CLI::App& app, Chosen& chosen) {
  auto script = std::make_shared<std::string (*)(const Command&, const std::vector<Command>&)>();
  auto* command = app.add_subcommand("completion", "Print a script that completes commands");
  command->group("Shells");
  AddChoice(*command, "SHELL", *script,
            {{"bash", BashScript}, {"zsh", ZshScript}, {"fish", FishScript}}, "Shell")
      ->required();
  command->footer(
      "The packages install these scripts. Otherwise, for bash: source <(tenure completion bash)");
  command->callback([&app, &chosen, script] {
    chosen = [&app, script] {
      std::cout << (*script)(Read(app), Subcommands(app));
      return 0;
    };
  });
}

}  // namespace tenure
