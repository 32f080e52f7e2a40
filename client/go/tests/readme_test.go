package tests

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// readmePrograms builds the programs of the README, in their order, in empty projects that have the
// packed library from TENURE_DIST.
func readmePrograms(t *testing.T) []string {
	t.Helper()
	dist := os.Getenv("TENURE_DIST")
	if dist == "" {
		t.Skip("TENURE_DIST does not name the folder into which pack.sh has packed")
	}
	packed, err := filepath.Glob(filepath.Join(dist, "tenure-go-*.zip"))
	if err != nil || len(packed) != 1 {
		t.Fatal(err, packed)
	}
	folder := t.TempDir()
	command(t, folder, "unzip", "-q", packed[0])
	library := strings.TrimSuffix(filepath.Base(packed[0]), ".zip")
	readme, err := os.ReadFile(filepath.Join(folder, library, "README.md"))
	must(t, err)
	var programs []string
	for i, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		project := filepath.Join(folder, fmt.Sprintf("project%d", i))
		must(t, os.Mkdir(project, 0o700))
		file := "main.go"
		isTest := strings.Contains(block[1], `"testing"`)
		if isTest {
			file = "main_test.go"
		}
		must(t, os.WriteFile(filepath.Join(project, file), []byte(block[1]), 0o600))
		command(t, project, "go", "mod", "init", "example.com/project")
		command(t, project, "go", "mod", "edit", "-require=tenure@v0.0.0", "-replace=tenure=../"+library)
		command(t, project, "go", "mod", "tidy")
		if formatted := command(t, project, "gofmt", "-l", "."); formatted != "" {
			t.Error("gofmt would change the README's program ", i)
		}
		command(t, project, "go", "vet", ".")
		if isTest {
			command(t, project, "go", "test", ".")
			continue
		}
		command(t, project, "go", "build", "-o", "program", ".")
		programs = append(programs, filepath.Join(project, "program"))
	}
	return programs
}

func command(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	run := exec.Command(name, arguments...)
	run.Dir = folder
	output, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// spoken is a line, with its process and time.
type spoken struct {
	process int
	line    string
	at      time.Time
}

func startProgram(t *testing.T, said chan spoken, number int, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	process := exec.Command(program, arguments...)
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	must(t, err)
	must(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			said <- spoken{number, lines.Text(), time.Now()}
		}
	}()
	return process
}

func TestTheProgramsOfTheReadmeWork(t *testing.T) {
	programs := readmePrograms(t)
	if len(programs) != 4 {
		t.Fatal(len(programs))
	}
	t.Run("three processes, one leader", func(t *testing.T) { testThreeProcesses(t, programs[0]) })
	t.Run("gocron", func(t *testing.T) {
		said := make(chan spoken, 100)
		startProgram(t, said, 0, programs[1], startService(t).endpoint)
		for line := ""; line != "running in term 1"; {
			line = receive(t, "a job", said).line
		}
	})
	t.Run("client-go's callbacks", func(t *testing.T) {
		said := make(chan spoken, 100)
		startProgram(t, said, 0, programs[2], startService(t).endpoint)
		for want := map[string]bool{"started": true, "leader: me": true}; len(want) > 0; {
			delete(want, receive(t, "started and leader", said).line)
		}
	})
	t.Run("a fenced transaction", func(t *testing.T) {
		mariadb := startMariaDB(t)
		address := "root@tcp(" + mariadb + ")/"
		database(t, address, "CREATE DATABASE tenure", "CREATE DATABASE shop", "CREATE TABLE shop.sales (term BIGINT)")
		service := startService(t, "--store", "mysql://root@"+mariadb+"/tenure")
		said := make(chan spoken, 100)
		startProgram(t, said, 0, programs[3], service.endpoint, address+"shop")
		if line := receive(t, "a sale", said).line; line != "sold in term 1" {
			t.Error(line)
		}
	})
}

func testThreeProcesses(t *testing.T, path string) {
	service := startService(t)
	said := make(chan spoken, 100)
	var processes []*exec.Cmd
	for number := 0; number < 3; number++ {
		processes = append(processes, startProgram(t, said, number, path, service.endpoint))
	}
	leader := receive(t, "a leader", said)
	if leader.line != "leading in term 1" {
		t.Fatal(leader.line)
	}
	eventually(t, "the two others stand", func() bool {
		return strings.Count(command(t, ".", program(t, "tenure"), "--endpoint", service.endpoint, "--json", "describe", "orders"), `"position"`) >= 2
	})

	killed := time.Now()
	must(t, processes[leader.process].Process.Kill())
	next := receive(t, "the next leader", said)
	if next.line != "leading in term 2" || next.process == leader.process {
		t.Fatal(next)
	}
	t.Logf("kill -9, with a lease of 2 s: the next one leads after %v", next.at.Sub(killed))

	interrupted := time.Now()
	must(t, processes[next.process].Process.Signal(syscall.SIGINT))
	last := receive(t, "the last leader", said)
	if last.line != "leading in term 3" || last.process == next.process {
		t.Fatal(last)
	}
	t.Logf("SIGINT: the next one leads after %v", last.at.Sub(interrupted))
	if err := processes[next.process].Wait(); err != nil {
		t.Error(err)
	}
}
