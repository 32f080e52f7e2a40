package machine

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "tenure/v1"
)

const start = Time(time.Hour) // of a scenario; 0 is never

type object = map[string]any

type vectors struct {
	Machine   string
	Options   object
	Openings  map[string][]json.RawMessage
	Scenarios []struct {
		Name    string
		Opening string
		Options object
		Wish    struct {
			Names        []string
			Prefix       bool
			FromRevision uint64 `json:"from_revision"`

			FromRevisions map[string]uint64 `json:"from_revisions"`
		}
		Steps []json.RawMessage

		// Of a service.
		Known   string
		Pinned  bool
		Answers []struct {
			Endpoint  string
			ServiceID string `json:"service_id"`
		}
		Chosen  string
		NotUsed []string `json:"not_used"`
		Error   *struct{ Code, Reason, Message string }
	}
}

func readVectors(t *testing.T, machine string) []vectors {
	t.Helper()
	folder := os.Getenv("TENURE_VECTORS")
	if folder == "" {
		folder = "../../../../tests/polyglot/vectors"
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Skipf("no vectors in %s: set TENURE_VECTORS (%v)", folder, err)
	}
	var files []vectors
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file vectors
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(path, err)
		}
		if file.Machine == machine {
			files = append(files, file)
		}
	}
	return files
}

func toMessage[M proto.Message](t *testing.T, fields any, message M) M {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(text, message); err != nil {
		t.Fatal(string(text), err)
	}
	return message
}

// canonical brings a message into one form, so that equal messages compare equal.
func canonical(t *testing.T, message proto.Message) any {
	t.Helper()
	text, err := protojson.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	var fields any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// number reads a field that may be missing.
func number(fields object, name string) (float64, bool) {
	value, ok := fields[name].(float64)
	return value, ok
}

func milliseconds(fields object, name string) (time.Duration, bool) {
	value, ok := number(fields, name)
	return time.Duration(value * float64(time.Millisecond)), ok
}

func text(fields object, name string) string {
	value, _ := fields[name].(string)
	return value
}

func flag(fields object, name string) bool {
	value, _ := fields[name].(bool)
	return value
}

func uint64Of(fields object, name string) uint64 {
	value, _ := number(fields, name)
	return uint64(value)
}

func codeOf(name string) (code codes.Code) {
	if name == "CANCELLED" {
		return codes.Canceled
	}
	if err := code.UnmarshalJSON([]byte(strconv.Quote(name))); err != nil {
		panic(err)
	}
	return code
}

func nameOf(answer *status.Status) string {
	for _, name := range []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED",
		"NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
		"ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"} {
		if codeOf(name) == answer.Code() {
			return name
		}
	}
	panic(answer)
}

func answerOf(t *testing.T, told object) *status.Status {
	t.Helper()
	fields, ok := told["error"].(object)
	if !ok {
		return nil
	}
	info := &errdetails.ErrorInfo{Reason: text(fields, "reason"), Metadata: map[string]string{}}
	if metadata, ok := fields["metadata"].(object); ok {
		for key, value := range metadata {
			info.Metadata[key] = value.(string)
		}
	}
	details := []protoadapt.MessageV1{protoadapt.MessageV1Of(info)}
	if delay, ok := milliseconds(fields, "retry_delay_ms"); ok {
		retry := &errdetails.RetryInfo{RetryDelay: durationpb.New(delay)}
		details = append(details, protoadapt.MessageV1Of(retry))
	}
	answer, err := status.New(codeOf(text(fields, "code")), "").WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// player plays one scenario of a session.
type player struct {
	t          *testing.T
	session    *Session
	seats      []uint64
	requestIDs []string // numbered as they appear
}

func newPlayer(t *testing.T, options object, seed int64) *player {
	ttl, _ := milliseconds(options, "lease_ttl_ms")
	return &player{t: t, session: NewSession(SessionOptions{
		Candidate: text(options, "candidate"), LeaseTTL: ttl, Supersede: flag(options, "supersede"),
	}, rand.New(rand.NewSource(seed)))}
}

// play returns the step's outcome, in the words of the vectors.
func (p *player) play(step object) object {
	at, _ := milliseconds(step, "at_ms")
	now := start.Add(at)
	if input, ok := step["input"].(object); ok {
		for what, told := range input {
			p.tell(what, told.(object), now)
		}
	}
	effects, news, gone := []any{}, []any{}, []any{}
	for _, effect := range p.session.Decide(now) {
		effects = append(effects, p.toldEffect(effect))
	}
	for _, told := range p.session.TakeNews() {
		event := toldEvent(told.Event)
		event["seat"] = float64(told.Seat)
		news = append(news, event)
	}
	for _, seat := range p.session.TakeGone() {
		gone = append(gone, float64(seat))
	}
	said := object{
		"effects": effects, "news": news, "gone": gone, "believed_until_ms": p.beliefs(), "wake_ms": nil, "ended": nil,
	}
	if wake := p.session.NextWake(); wake != Never {
		said["wake_ms"] = inMilliseconds(max(wake, now))
	}
	if p.session.Ended() {
		said["ended"] = nameOf(p.session.EndStatus())
	}
	return said
}

func (p *player) tell(what string, told object, now Time) {
	s, seat, call := p.session, uint64Of(told, "seat"), uint64Of(told, "call")
	switch what {
	case "add":
		p.seats = append(p.seats, seat)
		options := SeatOptions{
			Election: text(told, "election"), Value: []byte(text(told, "value")), Priority: int32(uint64Of(told, "priority")),
			HasWork: flag(told, "has_work"), OneTerm: flag(told, "one_term"),
		}
		if grace, ok := milliseconds(told, "stop_grace_ms"); ok {
			options.StopGrace = &grace
		}
		s.Add(seat, options)
	case "proclaim":
		s.Proclaim(seat, []byte(text(told, "value")), now)
	case "leave":
		s.Leave(seat, now)
	case "abandon":
		s.Abandon(seat, now)
	case "work_ended":
		s.WorkEnded(seat, now)
	case "belief_ended":
		s.BeliefEnded(seat, now)
	case "end":
		var until Time
		if insist, ok := milliseconds(told, "insist_until_ms"); ok {
			until = start.Add(insist)
		}
		s.End(now, until)
	case "campaign_done":
		response := &pb.CampaignResponse{}
		if fields, ok := told["response"]; ok {
			toMessage(p.t, fields, response)
		}
		s.OnCampaignDone(call, answerOf(p.t, told), response, now)
	case "resign_done":
		s.OnResignDone(call, answerOf(p.t, told), now)
	case "stream_message":
		s.OnStreamMessage(uint64Of(told, "stream"), toMessage(p.t, told["message"], &pb.KeepAliveResponse{}), now)
	case "stream_closed":
		s.OnStreamClosed(uint64Of(told, "stream"), now)
	case "service_replaced":
		s.OnServiceReplaced(now)
	default:
		p.t.Fatal("an unknown input: ", what)
	}
}

func inMilliseconds(time Time) float64 { return inMs(time.Sub(start)) }

func inMs(duration time.Duration) float64 { return float64(duration) / float64(time.Millisecond) }

func (p *player) toldEffect(effect Effect) object {
	switch what := effect.(type) {
	case SendCampaign:
		told := object{"call": float64(what.Call), "patience_ms": inMs(what.Patience)}
		request := proto.Clone(what.Request).(*pb.CampaignRequest)
		if len(request.RequestId) > 0 {
			told["request_id"] = p.numberOf(string(request.RequestId))
			request.RequestId = nil
		}
		told["request"] = canonical(p.t, request)
		return object{"campaign": told}
	case SendResign:
		return object{"resign": object{
			"call": float64(what.Call), "request": canonical(p.t, what.Request), "patience_ms": inMs(what.Patience)}}
	case SendRenewal:
		return object{"renew": object{"stream": float64(what.Stream), "request": canonical(p.t, what.Request)}}
	case OpenStream:
		return object{"open": object{"stream": float64(what.Stream)}}
	case CloseStream:
		return object{"close": object{"stream": float64(what.Stream)}}
	case UseAnotherReplica:
		return object{"another_replica": object{"silent": what.Silent}}
	default:
		panic(effect)
	}
}

func (p *player) numberOf(requestID string) float64 {
	for i, known := range p.requestIDs {
		if known == requestID {
			return float64(i + 1)
		}
	}
	p.requestIDs = append(p.requestIDs, requestID)
	return float64(len(p.requestIDs))
}

func toldEvent(event Event) object {
	switch what := event.(type) {
	case Standing:
		return object{"event": "standing", "position": float64(what.Place.GetPosition())}
	case Elected:
		return object{"event": "elected", "term": float64(what.Leadership.GetTerm())}
	case Suspended:
		return object{"event": "suspended"}
	case Resumed:
		return object{"event": "resumed"}
	case HandoverAsked:
		return object{"event": "handover_asked", "successor": what.Successor}
	case StopWork:
		return object{"event": "stop_work"}
	case Overrun:
		return object{"event": "overrun"}
	case Lost:
		return object{"event": "lost", "cause": what.Cause.String()}
	case Troubled:
		return object{"event": "troubled", "code": nameOf(status.Convert(what.Err))}
	case Refused:
		return object{"event": "refused", "code": nameOf(status.Convert(what.Err))}
	default:
		panic(event)
	}
}

func (p *player) beliefs() object {
	beliefs := object{}
	for _, seat := range p.seats {
		if until := p.session.BelievedUntil(seat); until != 0 {
			beliefs[strconv.FormatUint(seat, 10)] = inMilliseconds(until)
		}
	}
	return beliefs
}

// expected is what a step expects, including everything that it leaves out.
func expected(t *testing.T, step object) object {
	whole := object{
		"effects": []any{}, "news": []any{}, "gone": []any{}, "believed_until_ms": object{}, "wake_ms": nil, "ended": nil,
	}
	for name := range whole {
		if value, ok := step[name]; ok {
			whole[name] = value
		}
	}
	requests := map[string]func() proto.Message{
		"campaign": func() proto.Message { return &pb.CampaignRequest{} },
		"resign":   func() proto.Message { return &pb.ResignRequest{} },
		"renew":    func() proto.Message { return &pb.KeepAliveRequest{} },
	}
	for _, effect := range whole["effects"].([]any) {
		for name, told := range effect.(object) {
			if request, ok := requests[name]; ok {
				fields := told.(object)
				fields["request"] = canonical(t, toMessage(t, fields["request"], request()))
			}
		}
	}
	return whole
}

// matchRange accepts any time within a range.
func matchRange(expected, said object) {
	limits, ok := expected["wake_ms"].([]any)
	wake, set := said["wake_ms"].(float64)
	if ok && set && limits[0].(float64) <= wake && wake <= limits[1].(float64) {
		said["wake_ms"] = limits
	}
}

func parse(t *testing.T, step json.RawMessage) object {
	t.Helper()
	var fields object
	if err := json.Unmarshal(step, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestTheSessionFollowsTheVectors(t *testing.T) {
	for _, file := range readVectors(t, "session") {
		for _, scenario := range file.Scenarios {
			options := scenario.Options
			if options == nil {
				options = file.Options
			}
			steps := append(append([]json.RawMessage{}, file.Openings[scenario.Opening]...), scenario.Steps...)
			for seed := int64(1); seed <= 5; seed++ {
				t.Run(fmt.Sprint(scenario.Name, "/", seed), func(t *testing.T) {
					player := newPlayer(t, options, seed)
					for _, step := range steps {
						said := player.play(parse(t, step))
						want := expected(t, parse(t, step))
						matchRange(want, said)
						if !reflect.DeepEqual(said, want) {
							t.Fatalf("in the step %s\nit says %v\n instead of %v", step, said, want)
						}
					}
				})
			}
		}
	}
}

func TestTheObservationFollowsTheVectors(t *testing.T) {
	verdicts := map[Verdict]string{News: "news", Known: "known", Gap: "gap"}
	for _, file := range readVectors(t, "observation") {
		for _, scenario := range file.Scenarios {
			t.Run(scenario.Name, func(t *testing.T) {
				observation := NewObservation(Wish(scenario.Wish))
				for _, raw := range scenario.Steps {
					step := parse(t, raw)
					if message, ok := step["message"]; ok {
						verdict := verdicts[observation.Note(toMessage(t, message, &pb.ObserveResponse{}))]
						if verdict != step["verdict"] {
							t.Fatalf("%s: %s", raw, verdict)
						}
					}
					if selectors, ok := step["selectors"]; ok {
						var want []any
						for _, selector := range selectors.([]any) {
							want = append(want, canonical(t, toMessage(t, selector, &pb.Selector{})))
						}
						var asked []any
						for _, selector := range observation.Request().Selectors {
							asked = append(asked, canonical(t, selector))
						}
						if !reflect.DeepEqual(inOrder(asked), inOrder(want)) {
							t.Fatalf("%s: %v", raw, asked)
						}
					}
				}
			})
		}
	}
}

func inOrder(values []any) []string {
	var texts []string
	for _, value := range values {
		texts = append(texts, fmt.Sprint(value))
	}
	sort.Strings(texts)
	return texts
}

func TestServiceVectors(t *testing.T) {
	files := readVectors(t, "service")
	if len(files) == 0 {
		t.Fatal("no vectors")
	}
	for _, file := range files {
		for _, scenario := range file.Scenarios {
			var answers []Answer
			for _, answer := range scenario.Answers {
				answers = append(answers, Answer(answer))
			}

			choice, err := Choose(scenario.Known, scenario.Pinned, answers)

			switch want := scenario.Error; {
			case want == nil:
				if err != nil || choice.ServiceID != scenario.Chosen || !reflect.DeepEqual(choice.NotUsed, scenario.NotUsed) {
					t.Errorf("%s: %+v, %v", scenario.Name, choice, err)
				}
			case err == nil || codeOf(want.Code) != err.Code() || InfoOf(err).GetReason() != want.Reason,
				want.Message != "" && err.Message() != want.Message:
				t.Errorf("%s: %+v, %v", scenario.Name, choice, err)
			}
		}
	}
}

func TestTheRestNeedNotAnswerOnceMoreThanHalfAgree(t *testing.T) {
	for _, test := range []struct {
		pinned  string
		answers []Answer
		want    bool
	}{
		{"", []Answer{{"a", "1"}, {"b", ""}, {"c", ""}}, false},
		{"", []Answer{{"a", "1"}, {"b", ""}, {"c", "1"}}, true},
		{"", []Answer{{"a", "1"}, {"b", "2"}, {"c", ""}}, false},
		{"2", []Answer{{"a", "1"}, {"b", "1"}, {"c", ""}}, false},
		{"1", []Answer{{"a", "1"}, {"b", "1"}, {"c", ""}}, true},
		{"", []Answer{{"a", "1"}}, true},
		{"", []Answer{{"a", "1"}, {"b", ""}}, false},
	} {
		if got := Agreed(test.pinned, test.answers); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
